"""Method names that lists, strings, files and the like have in most languages.

A call of one of these on a receiver of unknown type rarely means a method of the project.
"""

from quintet.codegraph.language import words

COMMON_MEMBERS = words(
    "__call__ __enter__ __exit__ __init__ acquire add all any append apply as_str bind call cancel"
    " capitalize charAt clear clone close collect commit concat connect contains containsKey copy count"
    " cursor debug decode delete difference discard done each each_with_index emit empty? encode endsWith"
    " endswith entries entrySet equals error every exception execute exists expect extend fetch fetchall"
    " fetchone fill filter find find_all first flatMap flatten flush fold forEach format from fromkeys get"
    " get_mut getattr group groups has hasNext hashCode hexdigest include? includes index indexOf info"
    " insert inspect intersection into isEmpty is_dir is_empty is_file is_none is_ok is_some isdigit items"
    " iter iterator join keys last len length ljust locals lock log lower lstrip map match merge mkdir"
    " name next nil? notify off on open parse partition peek poll pop popitem post print push put query"
    " raise_for_status read readline readlines recv reduce release remove removeprefix removesuffix render"
    " repeat replace reset resolve result reverse rfind rollback rstrip run save search seek select send"
    " set setdefault shift show size slice some sort splice split splitlines start startsWith startswith"
    " status stop str stream strip sub submit subscribe substring sum tell test then title toArray"
    " toLowerCase toString toUpperCase to_a to_h to_i to_s to_str to_string trim truncate union unlock"
    " unwrap unwrap_or update upper value values wait warn warning with write writelines zip"
)
