"""Other names of the classes in `types` that make functions, methods and classes."""
from types import ClassType as classobj
from types import CodeType as code
from types import FunctionType as function
from types import InstanceType as instance
from types import MethodType as instancemethod
from types import ModuleType as module
