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
            json!({ "id": 1, "method": "initialize", "params": { "rootUri": root, "capabilities": {} } }),
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
    let open = |editor: &mut Editor, file: &str| {
        let uri = editor.uri(file);
        editor
            .send(json!({ "method": "textDocument/didOpen", "params": { "textDocument": { "uri": uri } } }));
    };
    for file in ["a.c", "b.c"] {
        open(&mut editor, file);
        let shown = editor.receive();
        assert_eq!(
            (&shown["params"]["uri"], shown["params"]["diagnostics"].as_array().map(Vec::len)),
            (&editor.uri(file).into(), Some(1)),
            "{shown}"
        );
    }
    // A part of a program without a main is told in the log, once; the others are not told at all.
    for file in ["part.c", "part.h", "tool.py"] {
        open(&mut editor, file);
    }
    let said = editor.receive();
    assert_eq!(
        (&said["method"], &said["params"]["type"]),
        (&"window/logMessage".into(), &3.into()),
        "{said}"
    );
    open(&mut editor, "part.c");
    open(&mut editor, "a.c");
    let shown = editor.receive();
    assert_eq!(shown["params"]["uri"], editor.uri("a.c"), "nothing was said a second time: {shown}");
    editor.stop();
}

#[test]
fn requests_are_answered_while_a_check_runs() {
    // A search that takes its time: the refinement has a minute.
    let body: String = (0..40).map(|n| format!("  if (a[{n}] > b[{n}] * {n}) p = p ? 0 : &v;\n")).collect();
    let slow = format!(
        "int v;\nint f(int *a, int *b) {{ int *p = &v;\n{body}  return *p; }}\nint main(void) {{ int a[40], b[40]; for (int i = 0; i < 40; i++) {{ a[i] = getchar(); b[i] = getchar(); }} return f(a, b); }}\n"
    );
    let slow = format!("int getchar(void);\n{slow}");
    let mut editor = Editor::start("lsp-slow", &[("slow.c", &slow)], &["--refine-time=60"]);
    let uri = editor.uri("slow.c");
    editor.send(json!({ "method": "textDocument/didOpen", "params": { "textDocument": { "uri": uri } } }));
    editor.send(json!({ "id": 9, "method": "textDocument/hover", "params": {} }));
    assert_eq!(editor.receive()["id"], 9, "the answer does not wait for the check");
    editor.stop();
}
