"""Names of the builtin classes."""
import _taipan

NoneType = _taipan.NoneType
TypeType = type
ObjectType = object
IntType = int
LongType = long
FloatType = float
BooleanType = bool
StringType = str
UnicodeType = unicode
StringTypes = (str, unicode)
TupleType = tuple
ListType = list
DictType = DictionaryType = dict
FunctionType = LambdaType = _taipan.function
BuiltinFunctionType = BuiltinMethodType = _taipan.builtin
ModuleType = _taipan.module
GeneratorType = _taipan.generator
CodeType = _taipan.code
ClassType = _taipan.classobj
InstanceType = _taipan.instance
SliceType = slice
XRangeType = type(xrange(0))
FileType = _taipan.file
TracebackType = _taipan.traceback
MemberDescriptorType = _taipan.member_descriptor
NotImplementedType = type(NotImplemented)
EllipsisType = type(Ellipsis)
UnboundMethodType = MethodType = _taipan.instancemethod
