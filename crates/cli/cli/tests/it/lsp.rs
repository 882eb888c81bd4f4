//! `lsp` as an editor talks to it: over standard input and output, with the protocol's own framing.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// An editor.
struct Editor {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    root: PathBuf,
}

impl Editor {
    fn start(name: &str, files: &[(&str, &str)], flags: &[&str]) -> Editor {
        Editor::with(name, files, flags, json!({}))
    }

    fn with(name: &str, files: &[(&str, &str)], flags: &[&str], capabilities: Value) -> Editor {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).expect("a folder");
        for (file, text) in files {
            std::fs::write(root.join(file), text).expect("a file");
        }
        let root = std::fs::canonicalize(&root).expect("a folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.arg("lsp").arg("--").args(["--cache".as_ref(), root.join("kept").as_os_str()]).args(flags);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().expect("parallax runs");
        let input = server.stdin.take().expect("a pipe");
        let output = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut editor = Editor { server, input, output, root };
        let root = editor.uri("");
        editor.send(
            json!({ "id": 1, "method": "initialize", "params": { "rootUri": root, "capabilities": capabilities } }),
        );
        let answer = editor.receive();
        assert_eq!(answer["result"]["capabilities"]["textDocumentSync"]["save"], true, "{answer}");
        editor.send(json!({ "method": "initialized", "params": {} }));
        editor
    }

    fn uri(&self, file: &str) -> String {
        format!("file://{}", self.root.join(file).display())
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        self.input.flush().expect("it listens");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("it speaks") > 0, "it ended");
            if let Some(number) = line.strip_prefix("Content-Length: ") {
                length = number.trim().parse().expect("a number");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).expect("a message");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn open(&mut self, file: &str) {
        let uri = self.uri(file);
        self.send(json!({ "method": "textDocument/didOpen", "params": { "textDocument": { "uri": uri } } }));
    }

    /// The next diagnostics: of which file, and the code and line of each.
    fn shown(&mut self) -> (String, Vec<(String, u64)>) {
        let shown = self.receive();
        assert_eq!(shown["method"], "textDocument/publishDiagnostics", "{shown}");
        let all = shown["params"]["diagnostics"].as_array().expect("diagnostics").iter();
        let all = all.map(|one| {
            let code = one["code"].as_str().expect("a code").to_owned();
            (code, one["range"]["start"]["line"].as_u64().expect("a line") + 1)
        });
        let all = all.collect();
        (shown["params"]["uri"].as_str().expect("a file").rsplit('/').next().expect("a name").to_owned(), all)
    }

    fn saved(&mut self, file: &str, text: &str) -> Value {
        std::fs::write(self.root.join(file), text).expect("a file");
        let uri = self.uri(file);
        self.send(json!({ "method": "textDocument/didSave", "params": { "textDocument": { "uri": uri } } }));
        self.receive()
    }

    fn stop(mut self) {
        self.send(json!({ "id": 2, "method": "shutdown" }));
        assert_eq!(self.receive()["id"], 2);
        self.send(json!({ "method": "exit" }));
        assert_eq!(self.server.wait().expect("it ends").code(), Some(0));
    }
}

const PROGRAM: &str = "int v, *g = &v;
void clear(void);
void use(void) { *g = 1; }
int main(int n, char **w) {
  if (n > 1) clear();
  use();
  return 0;
}
";
const OTHER: &str = "extern int *g;\nvoid clear(void) {\n  g = 0;\n}\n";

#[test]
fn a_save_shows_findings_with_their_ways_and_takes_them_back() {
    let database = r#"[{ "directory": ".", "file": "p.c", "arguments": ["cc", "p.c"] },
        { "directory": ".", "file": "other.c", "arguments": ["cc", "other.c"] }]"#;
    let files = [("p.c", PROGRAM), ("other.c", OTHER), ("compile_commands.json", database)];
    let mut editor = Editor::start("lsp-save", &files, &["--no-refine"]);
    let shown = editor.saved("p.c", PROGRAM);
    assert_eq!(shown["method"], "textDocument/publishDiagnostics", "{shown}");
    assert_eq!(shown["params"]["uri"], editor.uri("p.c"));
    let diagnostics = shown["params"]["diagnostics"].as_array().expect("diagnostics");
    assert_eq!(diagnostics.len(), 1, "{shown}");
    let one = &diagnostics[0];
    assert_eq!((&one["range"]["start"]["line"], &one["code"]), (&2.into(), &"null-dereference".into()));
    // The null comes from the other file.
    let related = one["relatedInformation"].as_array().expect("a way");
    let first = &related[0]["location"];
    assert_eq!(
        (&first["uri"], &first["range"]["start"]["line"]),
        (&editor.uri("other.c").into(), &2.into()),
        "{one}"
    );
    let gone = editor.saved("other.c", &OTHER.replace("g = 0", "g = g"));
    assert_eq!(gone["params"]["uri"], editor.uri("p.c"));
    assert_eq!(gone["params"]["diagnostics"], json!([]), "{gone}");
    editor.stop();
}

#[test]
fn what_does_not_compile_is_said_and_is_not_the_end() {
    let mut editor = Editor::start("lsp-wrong", &[("p.c", PROGRAM)], &["--no-refine"]);
    let said = editor.saved("p.c", "int main(void) { return x; }\n");
    assert_eq!(said["method"], "window/showMessage", "{said}");
    assert!(said["params"]["message"].as_str().is_some_and(|words| words.contains("undeclared")), "{said}");
    let fixed = editor.saved("p.c", "int main(void) { int *p = 0; return *p; }\n");
    assert_eq!(fixed["params"]["diagnostics"].as_array().map(Vec::len), Some(1), "{fixed}");
    editor.send(json!({ "id": 7, "method": "textDocument/hover", "params": {} }));
    assert_eq!(editor.receive()["error"]["code"], -32601);
    editor.stop();
}

#[test]
fn a_file_keeps_its_findings_while_others_are_opened_and_what_is_no_program_is_left_alone() {
    let bad = "int main(void) { int *p = 0; return *p; }\n";
    let files = [
        ("a.c", bad),
        ("b.c", bad),
        ("part.c", "int twice(int n) { return 2 * n; }\n"),
        ("part.h", "int twice(int);\n"),
        ("tool.py", "x = = 1\n"),
    ];
    let mut editor = Editor::start("lsp-files", &files, &["--no-refine"]);
    for file in ["a.c", "b.c"] {
        editor.open(file);
        let shown = editor.receive();
        assert_eq!(
            (&shown["params"]["uri"], shown["params"]["diagnostics"].as_array().map(Vec::len)),
            (&editor.uri(file).into(), Some(1)),
            "{shown}"
        );
    }
    // A part of a program without a main is told in the log, once; the others are not told at all.
    for file in ["part.c", "part.h", "tool.py"] {
        editor.open(file);
    }
    let said = editor.receive();
    assert_eq!(
        (&said["method"], &said["params"]["type"]),
        (&"window/logMessage".into(), &3.into()),
        "{said}"
    );
    editor.open("part.c");
    editor.open("a.c");
    let shown = editor.receive();
    assert_eq!(shown["params"]["uri"], editor.uri("a.c"), "nothing was said a second time: {shown}");
    editor.stop();
}

/// A program whose check takes its time: the refinement has ten minutes.
fn slow() -> String {
    let body: String = (0..40).map(|n| format!("  if (a[{n}] > b[{n}] * {n}) p = p ? 0 : &v;\n")).collect();
    format!(
        "int getchar(void);\nint v;\nint f(int *a, int *b) {{ int *p = &v;\n{body}  return *p; }}\nint main(void) {{ int a[40], b[40]; for (int i = 0; i < 40; i++) {{ a[i] = getchar(); b[i] = getchar(); }} return f(a, b); }}\n"
    )
}
const LONG: &str = "--refine-time=600";

#[test]
fn requests_are_answered_while_a_check_runs() {
    let mut editor = Editor::start("lsp-slow", &[("slow.c", &slow())], &[LONG]);
    editor.open("slow.c");
    editor.send(json!({ "id": 9, "method": "textDocument/hover", "params": {} }));
    // It is answered already, once.
    editor.send(json!({ "method": "$/cancelRequest", "params": { "id": 9 } }));
    editor.send(json!({ "id": 10, "method": "textDocument/definition", "params": {} }));
    assert_eq!(editor.receive()["id"], 9, "the answer does not wait for the check");
    assert_eq!(editor.receive()["id"], 10);
    editor.stop();
}

#[test]
fn a_check_ends_when_its_file_is_saved_again_and_when_the_user_cancels_it() {
    let files = [("slow.c", slow().as_str()), ("b.c", "int main(void) { int *p = 0; return *p; }\n")]
        .map(|(file, text)| (file, text.to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (*file, text.as_str())).collect();
    let capabilities = json!({ "window": { "workDoneProgress": true } });
    let mut editor = Editor::with("lsp-cancel", &files, &[LONG], capabilities);
    // Each check asks for a place to show its progress, and begins to show it once there is one.
    let begun = |editor: &mut Editor| {
        let asked = editor.receive();
        assert_eq!(asked["method"], "window/workDoneProgress/create", "{asked}");
        editor.send(json!({ "id": asked["id"], "result": null }));
        let begins = editor.receive();
        let value = &begins["params"]["value"];
        assert_eq!((&value["kind"], &value["cancellable"]), (&"begin".into(), &true.into()), "{begins}");
        assert_eq!(begins["params"]["token"], asked["params"]["token"]);
        asked["params"]["token"].clone()
    };
    let ended = |editor: &mut Editor, token: &Value| {
        let ends = editor.receive();
        assert_eq!((&ends["params"]["token"], &ends["params"]["value"]["kind"]), (token, &"end".into()));
    };
    editor.open("slow.c");
    let first = begun(&mut editor);
    // Another file waits; the same one, saved again, does not.
    editor.open("b.c");
    std::fs::write(editor.root.join("slow.c"), "int main(void) { int *p = 0; return *p; }\n")
        .expect("a file");
    let uri = editor.uri("slow.c");
    editor.send(json!({ "method": "textDocument/didSave", "params": { "textDocument": { "uri": uri } } }));
    ended(&mut editor, &first);
    for _ in 0..2 {
        let token = begun(&mut editor);
        let (_, all) = editor.shown();
        assert_eq!(all, [("null-dereference".to_owned(), 1)]);
        ended(&mut editor, &token);
    }
    std::fs::write(editor.root.join("slow.c"), slow()).expect("a file");
    editor.open("slow.c");
    let long = begun(&mut editor);
    editor.send(json!({ "method": "window/workDoneProgress/cancel", "params": { "token": "another" } }));
    editor.send(json!({ "method": "window/workDoneProgress/cancel", "params": { "token": long } }));
    ended(&mut editor, &long);
    // What was shown stays, and the next save is checked.
    editor.open("b.c");
    let token = begun(&mut editor);
    assert_eq!(editor.shown().0, "b.c");
    ended(&mut editor, &token);
    editor.stop();
}

#[test]
fn a_header_belongs_to_the_program_of_the_database() {
    let header = |body: &str| format!("static inline int first(int *p) {{ {body} }}\n");
    let database = r#"[{ "directory": ".", "file": "a.c", "arguments": ["cc", "a.c"] },
        { "directory": ".", "file": "b.c", "arguments": ["cc", "b.c"] }]"#;
    let files = [
        ("a.c", "#include \"both.h\"\nint second(void);\nint main(void) { return first(0) + second(); }\n"),
        ("b.c", "#include \"both.h\"\nint second(void) { int *p = 0; return *p; }\n"),
        ("both.h", &header("return *p;")),
        ("compile_commands.json", database),
    ];
    let mut editor = Editor::start("lsp-header", &files, &["--no-refine"]);
    editor.open("both.h");
    let both = [editor.shown(), editor.shown()];
    let null = |line| vec![("null-dereference".to_owned(), line)];
    assert_eq!(both, [("b.c".to_owned(), null(2)), ("both.h".to_owned(), null(1))]);
    // The header is mended: its own diagnostics go, those of the other file stay.
    std::fs::write(editor.root.join("both.h"), header("(void)p; return 0;")).expect("a file");
    let uri = editor.uri("both.h");
    editor.send(json!({ "method": "textDocument/didSave", "params": { "textDocument": { "uri": uri } } }));
    let both = [editor.shown(), editor.shown()];
    assert_eq!(both, [("b.c".to_owned(), null(2)), ("both.h".to_owned(), Vec::new())]);
    editor.stop();
}

#[test]
fn what_exploring_finds_is_shown_where_the_project_asks_for_it() {
    let text = "#include <stdlib.h>\n#include <unistd.h>\nint main(void) {\n  unsigned char c = 0;\n  read(0, &c, 1);\n  int table[4] = {0};\n  return table[c == 'x' ? 4 : c & 3];\n}\n";
    let config = "[lsp.explore]\ntime = 20\nstdin = 1\n";
    let files = [("p.c", text), ("parallax.toml", config)];
    let mut editor = Editor::start("lsp-explore", &files, &["--no-refine"]);
    editor.open("p.c");
    let shown = editor.receive();
    let one = &shown["params"]["diagnostics"][0];
    assert_eq!((&one["source"], &one["severity"]), (&"parallax explore".into(), &1.into()), "{shown}");
    assert_eq!(one["range"]["start"]["line"], 6, "{shown}");
    assert!(one["relatedInformation"].as_array().is_some_and(|way| !way.is_empty()), "{shown}");
    // The project asks for it no more.
    std::fs::write(editor.root.join("parallax.toml"), "[check]\n").expect("a file");
    editor.open("p.c");
    assert_eq!(editor.shown(), ("p.c".to_owned(), Vec::new()));
    std::fs::write(editor.root.join("parallax.toml"), "[lsp.explore]\nreport = '/tmp/x'\n").expect("a file");
    editor.open("p.c");
    let said = editor.receive();
    assert!(said["params"]["message"].as_str().is_some_and(|words| words.contains("report")), "{said}");
    editor.stop();
}
