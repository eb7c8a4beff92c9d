"""A base class for tests that need files."""
import pathlib
import tempfile
import unittest


class InFolder(unittest.TestCase):
    """Each test has a folder of its own with the files that `files` lists: names and contents."""
    files = {}

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        for name, text in self.files.items():
            self.write(name, text)

    def tearDown(self):
        self.place.cleanup()

    def write(self, name, text):
        (self.folder / name).write_bytes(text.encode())

    def read(self, name):
        return (self.folder / name).read_bytes().decode()
