"""Go: expected symbols, imports and mentions, listed by hand."""

from codegraph.languages.listing import headers, imports, mentions, read, symbols
from quintet.model.symbols import Outline

SOURCE = """
// Package server answers requests.
package server

import (
	"fmt"
	"net/url"
	log "example.com/kit/logging"
	. "example.com/kit/math"
	_ "example.com/kit/driver"
	"gopkg.in/yaml.v3"
	"example.com/go-cache/v2"
)

// Limit is how many wait.
const Limit = 10

const (
	// Low is the first.
	Low = iota
	high
)

var shared = &Server{}
var plain Conn

// Run answers until closed.
func (s *Server) Run(c Conn, fallback func()) error {
	s.conn.Send(Limit)
	s.log()
	s.Base.Start()
	c.Send(fmt.Sprint(high))
	fallback()
	shared.Run(c, nil)
	url, err := url.Parse("x")
	url.Query()
	again := &Server{name: "b"}
	again.Run(c, nil)
	var other log.Logger
	other.Print(err)
	made := Open()
	made.Close()
	each := func(one Conn, fmt int) { one.Send(fmt); fmt.Show() }
	each(plain, 1)
	if conn, ok := c.(Conn); ok { conn.Send(1) }
	switch kind := c.(type) {
	case *Server: kind.Run(c, nil)
	}
	go worker(again)
	defer func() { recover(); s.log() }()
	yaml.Marshal(Sum(1, 2))
	Map[int, string](nil).Len()
	return helper(worker)
}

// Server waits for requests.
type Server struct {
	Base
	*log.Logger
	name, title string
	conn        Conn
	byName      map[string]*Server
}

type (
	// Conn sends.
	Conn interface {
		fmt.Stringer
		Send(n int) error
	}
	ID = string
	List[T any] struct{ items []T }
)

func (l *List[T]) Len() int { var t T; t.Go(); return len(l.items) }

func (s *Other) Close() { s.stop(); s.field.stop() }

func (Server) log() {}

func depth(n int) int { return depth(n - 1) }
"""


def outline() -> Outline:
    return read("go", SOURCE, "server/server.go")


def test_go_definitions_have_their_kind_owner_and_visibility() -> None:
    assert symbols(outline()) == [
        "15 variable Limit public",
        "19 variable Low public",
        "20 variable high private",
        "23 variable shared private",
        "24 variable plain private",
        "27 method Server.Run public",
        "56 class Server public",
        "59 variable Server.name private",
        "59 variable Server.title private",
        "60 variable Server.conn private",
        "61 variable Server.byName private",
        "66 interface Conn public",
        "68 method Conn.Send public",
        "70 class ID public",
        "71 class List public",
        "71 variable List.items private",
        "74 method List.Len public",
        "76 method Other.Close public in module",
        "78 method Server.log private",
        "80 function depth private",
    ]


def test_go_definitions_have_their_lines_signature_and_comment() -> None:
    assert headers(outline()) == [
        "15-15 Limit = 10 | Limit is how many wait.",
        "19-19 Low = iota | Low is the first.",
        "20-20 high",
        "23-23 shared = &Server{}",
        "24-24 plain Conn",
        "27-53 func (s *Server) Run(c Conn, fallback func()) error | Run answers until closed.",
        "56-62 Server struct | Server waits for requests.",
        "59-59 name, title string",
        "59-59 name, title string",
        "60-60 conn Conn",
        "61-61 byName map[string]*Server",
        "66-69 Conn interface | Conn sends.",
        "68-68 Send(n int) error",
        "70-70 ID = string",
        "71-71 List[T any] struct",
        "71-71 items []T",
        "74-74 func (l *List[T]) Len() int",
        "76-76 func (s *Other) Close()",
        "78-78 func (Server) log()",
        "80-80 func depth(n int) int",
    ]


def test_a_go_file_has_its_lines_comment_and_package() -> None:
    module = outline().symbols[0]
    assert (module.first_line, module.last_line, module.docstring) == (
        1,
        80,
        "Package server answers requests.",
    )
    assert outline().package == "server"


def test_go_imports_say_what_they_bring_in() -> None:
    assert imports(outline()) == [
        "module: fmt - as fmt",
        "module: net/url - as url",
        "module: example.com/kit/logging - as log",
        "module: example.com/kit/math * as -",
        "module: example.com/kit/driver - as -",
        "module: gopkg.in/yaml.v3 - as yaml",
        "module: example.com/go-cache/v2 - as cache",
    ]


def test_go_calls_say_what_their_receiver_is() -> None:
    assert mentions(outline(), "calls") == [
        "28 Server.Run: Conn.Send type",
        "29 Server.Run: log self",
        "30 Server.Run: Base.Start type",
        "31 Server.Run: Conn.Send type",
        "31 Server.Run: fmt.Sprint name",
        "33 Server.Run: Server.Run type",
        "34 Server.Run: url.Parse name",
        "35 Server.Run: Query unknown",
        "37 Server.Run: Server.Run type",
        "39 Server.Run: log.Logger.Print type",
        "40 Server.Run: Open name",
        "41 Server.Run: Close unknown",
        "42 Server.Run: Conn.Send type",
        "42 Server.Run: Show unknown",
        "44 Server.Run: Conn.Send type",
        "46 Server.Run: Server.Run type",
        "48 Server.Run: worker name",
        "49 Server.Run: log self",
        "50 Server.Run: Sum name",
        "50 Server.Run: yaml.Marshal name",
        "51 Server.Run: Len unknown",
        "51 Server.Run: Map name",
        "52 Server.Run: helper name",
        "74 List.Len: Go unknown",
        "76 Other.Close: Other.stop type",
        "76 Other.Close: stop unknown",
        "80 depth: depth name",
    ]


def test_go_bases_are_extended_or_implemented() -> None:
    assert mentions(outline(), "extends") == [
        "57 Server: Base name",
        "58 Server: log.Logger name",
        "67 Conn: fmt.Stringer name",
    ]
    assert mentions(outline(), "implements") == []


def test_go_refers_to_types_constants_and_fields() -> None:
    assert mentions(outline(), "references") == [
        "23 shared: Server name",
        "24 plain: Conn name",
        "27 Server.Run: Conn name",
        "28 Server.Run: Limit name",
        "31 Server.Run: high name",
        "33 Server.Run: shared name",
        "36 Server.Run: Server name",
        "38 Server.Run: log.Logger name",
        "43 Server.Run: plain name",
        "52 Server.Run: worker name",
        "60 Server.conn: Conn name",
        "61 Server.byName: Server name",
    ]


def test_go_tests_are_functions_of_a_test_file() -> None:
    text = "package a\n\nfunc TestRun(t *testing.T) { Run() }\n\nfunc Testify() {}\n\nfunc setUp() {}\n"
    assert symbols(read("go", text, "a/a_test.go")) == [
        "3 function TestRun public test",
        "5 function Testify public",
        "7 function setUp private",
    ]
    assert not any(symbol.is_test for symbol in read("go", text, "a/a.go").symbols)


def test_broken_go_gives_what_is_sound() -> None:
    outline = read("go", "package a\nfunc good() { helper() }\nfunc bad( {{\n type x", "a.go")
    assert "2 function good private" in symbols(outline)
    assert "2 good: helper name" in mentions(outline, "calls")
