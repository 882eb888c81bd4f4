"""A notebook over a recording, executed. scripts/test-python runs this with the interpreter that has nbclient."""

import unittest

import nbclient
import nbformat

from test_recordings import Recordings, recorded


class Notebook(Recordings):
    def test_a_notebook(self):
        recorded(self.folder, "foo", "-O0")
        cells = [
            "from parallax import execution, var\nfoo = execution('foo.rec').breakpoints('foo')\nlen(foo)",
            "foo.filter(var('x') == 0)",
            "[int(snap.read_var('x')) for _, snap in foo][:4]",
            "foo.first().value.read_var('nonsense')",
        ]
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        client = nbclient.NotebookClient(notebook, timeout=120, allow_errors=True, kernel_name="python3", resources={"metadata": {"path": str(self.folder)}})
        done = client.execute()
        outputs = [cell["outputs"][-1] for cell in done["cells"]]
        self.assertEqual([out["data"]["text/plain"] for out in outputs[:3]], ["30", "<trace of breakpoints foo>", "[0, 1, 2, 0]"])
        self.assertEqual(outputs[3]["ename"], "UnknownName")


if __name__ == "__main__":
    unittest.main()
