"""An index measured by questions made from what it holds: without labels, without a language model."""

from quintet.evaluation.questions.build import QUESTIONS, OwnQuestions, own_questions

__all__ = ["QUESTIONS", "OwnQuestions", "own_questions"]
