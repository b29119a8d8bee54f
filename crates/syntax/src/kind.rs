//! tree-sitter's numbers for node kinds and fields, as enums.

use tree_sitter::Language;

macro_rules! kinds {
    ($($variant:ident = $named:literal $text:literal;)*) => {
        /// Node kinds that lowering looks at.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Kind { $($variant,)* Error, Other }

        const KINDS: &[(&str, bool, Kind)] = &[$(($text, $named, Kind::$variant),)*];
    };
}

kinds! {
    AliasedImport = true "aliased_import";
    ArgumentList = true "argument_list";
    AsPattern = true "as_pattern";
    AsPatternTarget = true "as_pattern_target";
    Assert = true "assert_statement";
    Assignment = true "assignment";
    Attribute = true "attribute";
    AugmentedAssignment = true "augmented_assignment";
    BinaryOperator = true "binary_operator";
    Block = true "block";
    BooleanOperator = true "boolean_operator";
    Break = true "break_statement";
    Call = true "call";
    ClassDefinition = true "class_definition";
    ComparisonOperator = true "comparison_operator";
    ConditionalExpression = true "conditional_expression";
    Continue = true "continue_statement";
    DecoratedDefinition = true "decorated_definition";
    Decorator = true "decorator";
    DefaultParameter = true "default_parameter";
    Delete = true "delete_statement";
    DictComprehension = true "dictionary_comprehension";
    Dictionary = true "dictionary";
    DictionarySplat = true "dictionary_splat";
    DictionarySplatPattern = true "dictionary_splat_pattern";
    DottedName = true "dotted_name";
    ElifClause = true "elif_clause";
    Ellipsis = true "ellipsis";
    ElseClause = true "else_clause";
    ExceptClause = true "except_clause";
    ExpressionList = true "expression_list";
    ExpressionStatement = true "expression_statement";
    False = true "false";
    FinallyClause = true "finally_clause";
    ForInClause = true "for_in_clause";
    ForStatement = true "for_statement";
    FunctionDefinition = true "function_definition";
    GeneratorExpression = true "generator_expression";
    Global = true "global_statement";
    Identifier = true "identifier";
    IfClause = true "if_clause";
    IfStatement = true "if_statement";
    Import = true "import_statement";
    ImportFrom = true "import_from_statement";
    ImportPrefix = true "import_prefix";
    Integer = true "integer";
    KeywordArgument = true "keyword_argument";
    KeywordSeparator = true "keyword_separator";
    Lambda = true "lambda";
    LambdaParameters = true "lambda_parameters";
    List = true "list";
    ListComprehension = true "list_comprehension";
    ListPattern = true "list_pattern";
    ListSplat = true "list_splat";
    ListSplatPattern = true "list_splat_pattern";
    Match = true "match_statement";
    NamedExpression = true "named_expression";
    None = true "none";
    Nonlocal = true "nonlocal_statement";
    NotOperator = true "not_operator";
    Pair = true "pair";
    Parameters = true "parameters";
    Parenthesized = true "parenthesized_expression";
    Pass = true "pass_statement";
    PatternList = true "pattern_list";
    PositionalSeparator = true "positional_separator";
    Raise = true "raise_statement";
    RelativeImport = true "relative_import";
    Return = true "return_statement";
    Set = true "set";
    SetComprehension = true "set_comprehension";
    Slice = true "slice";
    Subscript = true "subscript";
    True = true "true";
    Try = true "try_statement";
    Tuple = true "tuple";
    TuplePattern = true "tuple_pattern";
    Type = true "type";
    TypeAlias = true "type_alias_statement";
    TypedDefaultParameter = true "typed_default_parameter";
    TypedParameter = true "typed_parameter";
    UnaryOperator = true "unary_operator";
    While = true "while_statement";
    WildcardImport = true "wildcard_import";
    With = true "with_statement";
    WithClause = true "with_clause";
    WithItem = true "with_item";
    Yield = true "yield";
    Add = false "+";
    Sub = false "-";
    Mul = false "*";
    Div = false "/";
    FloorDiv = false "//";
    Mod = false "%";
    Pow = false "**";
    LShift = false "<<";
    RShift = false ">>";
    BitAnd = false "&";
    BitOr = false "|";
    BitXor = false "^";
    At = false "@";
    Invert = false "~";
    AddAssign = false "+=";
    SubAssign = false "-=";
    MulAssign = false "*=";
    DivAssign = false "/=";
    FloorDivAssign = false "//=";
    ModAssign = false "%=";
    PowAssign = false "**=";
    LShiftAssign = false "<<=";
    RShiftAssign = false ">>=";
    AndAssign = false "&=";
    OrAssign = false "|=";
    XorAssign = false "^=";
    AtAssign = false "@=";
    Lt = false "<";
    Le = false "<=";
    EqEq = false "==";
    NotEq = false "!=";
    LtGt = false "<>";
    Gt = false ">";
    Ge = false ">=";
    In = false "in";
    NotIn = false "not in";
    Is = false "is";
    IsNot = false "is not";
    And = false "and";
    Or = false "or";
    Comma = false ",";
    Colon = false ":";
    From = false "from";
    LambdaWord = false "lambda";
}

impl Kind {
    /// Whether it is a statement that contains others.
    pub(crate) fn is_compound(self) -> bool {
        matches!(
            self,
            Kind::IfStatement
                | Kind::ForStatement
                | Kind::While
                | Kind::Try
                | Kind::With
                | Kind::FunctionDefinition
                | Kind::ClassDefinition
                | Kind::DecoratedDefinition
                | Kind::Match
        )
    }
}

macro_rules! fields {
    ($($variant:ident = $text:literal;)*) => {
        /// Fields that lowering looks at.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Field { None, $($variant,)* }

        const FIELDS: &[(&str, Field)] = &[$(($text, Field::$variant),)*];
    };
}

fields! {
    Alias = "alias";
    Alternative = "alternative";
    Argument = "argument";
    Arguments = "arguments";
    Attribute = "attribute";
    Body = "body";
    Cause = "cause";
    Condition = "condition";
    Consequence = "consequence";
    Definition = "definition";
    Function = "function";
    Key = "key";
    Left = "left";
    ModuleName = "module_name";
    Name = "name";
    Object = "object";
    Operator = "operator";
    Operators = "operators";
    Parameters = "parameters";
    ReturnType = "return_type";
    Right = "right";
    Subscript = "subscript";
    Superclasses = "superclasses";
    Annotation = "type";
    TypeParameters = "type_parameters";
    Value = "value";
}

/// The grammar.
pub(crate) fn language() -> Language {
    tree_sitter_python::LANGUAGE.into()
}

/// Number to enum.
pub(crate) struct Tables {
    kinds: Vec<Kind>,
    fields: Vec<Field>,
}

impl Tables {
    pub(crate) fn new() -> Tables {
        let language = language();
        let kinds = (0..language.node_kind_count() as u16)
            .map(|id| {
                let named = language.node_kind_is_named(id);
                let text = language.node_kind_for_id(id).unwrap_or("");
                KINDS
                    .iter()
                    .find(|(t, n, _)| *t == text && *n == named)
                    .map_or(Kind::Other, |(_, _, k)| *k)
            })
            .collect();
        let fields = (0..=language.field_count() as u16)
            .map(|id| {
                let text = language.field_name_for_id(id).unwrap_or("");
                FIELDS
                    .iter()
                    .find(|(t, _)| *t == text)
                    .map_or(Field::None, |(_, f)| *f)
            })
            .collect();
        Tables { kinds, fields }
    }

    pub(crate) fn kind(&self, id: u16) -> Kind {
        // The kind of ERROR nodes is the largest number.
        self.kinds.get(id as usize).copied().unwrap_or(Kind::Error)
    }

    pub(crate) fn field(&self, id: Option<std::num::NonZeroU16>) -> Field {
        id.and_then(|id| self.fields.get(id.get() as usize).copied())
            .unwrap_or(Field::None)
    }
}
