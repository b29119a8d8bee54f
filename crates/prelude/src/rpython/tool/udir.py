"""A folder for temporary files: the system's, as no folder is made while a program loads."""
import py

udir = py.path.local('/tmp')
