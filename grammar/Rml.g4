// The surface syntax of R(ML)2 (docs/language.md), all of it.
//
// Every decision but two is LL(1): an argument is told from a named argument by its second
// token, and the left-recursive rule `expr` carries the precedences, tightest first. Hence
// SLL prediction is exact and parsing is linear.
//
// A juxtaposed parenthesis is a call where it follows its name with no space (the scanner
// retypes it TIGHT_LPAREN) and, outside the three operands of `merge`, also after a space.
// Brackets are treated alike: inside `merge`, `y [1, 2]` is two operands, `y[1]` is one.
//
// `map`, `fold` and `scan` are names, but where a call of a node follows: there the scanner retypes them
// ITERATE, and the `;` between the groups of its arguments GROUP. Behind `merge` they are names, but for `fold f(h; x)`.
//
// `dealt` and `by` are names, but behind an input: there the scanner retypes them DEALT and BY.
//
// Numbers: 42, 1_000, 0xff; 1.0, 1.5e10, 1e-3. A float has digits on both sides of its
// point; `1.` and `.5` are recognised only to be explained.
grammar Rml;

tokens { TIGHT_LPAREN, TIGHT_LBRACKET, ITERATE, GROUP, DEALT, BY }

@lexer::members {
  // Called after the opening `(*`; consumes to the matching close. A comment that the end
  // of the file cuts off is of type OPEN_COMMENT.
  void nested_comment() {
    for (int depth = 1; depth > 0;) {
      const auto c = _input->LA(1);
      if (c == antlr4::Token::EOF) {
        type = OPEN_COMMENT;
        return;
      }
      _input->consume();
      const auto next = _input->LA(1);
      if (c == '(' && next == '*') {
        ++depth;
        _input->consume();
      } else if (c == '*' && next == ')') {
        --depth;
        _input->consume();
      }
    }
  }
}

program : item* EOF ;

item : import_item | constant | node ;

import_item : IMPORT ( path ( AS alias=ID )? | file=STRING ) SEMI ;

constant : CONST ID ( COLON type )? ASSIGN expr SEMI ;

node : signature equation* ;

signature : NODE ID inputs=parameters ARROW outputs=parameters ;

parameters : ( LPAREN | TIGHT_LPAREN ) ( parameter ( COMMA parameter )* )? RPAREN ;

parameter : ID ( COLON type )? deal? ;

// The micro-batches of an input, which end where a Boolean holds, and how many are a step.
deal : DEALT end=ID ( BY ( INT | path ) )? ;

type : dtype=ID ( ( LBRACKET | TIGHT_LBRACKET ) expr ( COMMA expr )* RBRACKET )? ( WHEN NOT? clock=ID )? ;

equation
  : target ( COMMA target )* ASSIGN expr SEMI        # definition
  | ASSERT expr ( COMMA STRING )? SEMI               # assertion
  ;

target : ID ( COLON type )? | UNDERSCORE ;

expr
  : atom                                             # atomic
  | MERGE operand operand operand                    # merge
  | op=( MINUS | NOT | POST ) expr                   # prefix
  | expr WHEN NOT? atom                              # when
  | expr op=( STAR | SLASH | PERCENT ) expr          # binary
  | expr op=( PLUS | MINUS ) expr                    # binary
  | expr op=( EQ | NE | LT | LE | GT | GE ) expr     # binary
  | expr op=AND expr                                 # binary
  | expr op=OR expr                                  # binary
  | <assoc=right> expr FBY expr                      # fby
  | IF expr THEN expr ELSE expr                      # conditional
  ;

atom : ( reference | plain ) ( ( TIGHT_LBRACKET | LBRACKET ) index ( COMMA index )* RBRACKET )* ;

// An operand of merge: what follows after a space is the next operand.
operand : ( tight_reference | plain ) ( TIGHT_LBRACKET index ( COMMA index )* RBRACKET )* ;

reference : path ( ( TIGHT_LPAREN | LPAREN ) arguments RPAREN )? ;

tight_reference : path ( TIGHT_LPAREN arguments RPAREN )? ;

path : ID ( DOT ID )* ;

plain
  : value=( INT | FLOAT | TRUE | FALSE | STRING )                              # literal
  | LPAREN expr RPAREN                                                  # parenthesised
  | LBRACKET ( expr ( COMMA expr )* )? RBRACKET                         # array
  | DIFF optimizer? path ( TIGHT_LPAREN | LPAREN ) arguments RPAREN     # differential
  | ITERATE option? path ( TIGHT_LPAREN | LPAREN ) arguments ( GROUP arguments )* RPAREN  # iteration
  ;

option : ( LBRACKET | TIGHT_LBRACKET ) ID RBRACKET ;

optimizer
  : ( LBRACKET | TIGHT_LBRACKET ) path ( TIGHT_LPAREN | LPAREN ) ( expr ( COMMA expr )* )? RPAREN RBRACKET ;

arguments : ( argument ( COMMA argument )* )? ;

argument : ( ID ASSIGN )? expr ;

index : expr ranged? | ranged ;

// Behind the lower bound: the upper one and the step.
ranged : COLON upper=expr? ( COLON step=expr? )? ;

NODE : 'node' ;
CONST : 'const' ;
IMPORT : 'import' ;
AS : 'as' ;
IF : 'if' ;
THEN : 'then' ;
ELSE : 'else' ;
FBY : 'fby' ;
OR : 'or' ;
AND : 'and' ;
NOT : 'not' ;
WHEN : 'when' ;
MERGE : 'merge' ;
POST : 'post' ;
DIFF : 'diff' ;
ASSERT : 'assert' ;
TRUE : 'true' ;
FALSE : 'false' ;

SEMI : ';' ;
COMMA : ',' ;
COLON : ':' ;
DOT : '.' ;
ARROW : '->' ;
ASSIGN : '=' ;
EQ : '==' ;
NE : '!=' ;
LE : '<=' ;
GE : '>=' ;
LT : '<' ;
GT : '>' ;
PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
SLASH : '/' ;
PERCENT : '%' ;
LPAREN : '(' ;
RPAREN : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
UNDERSCORE : '_' ;

ID : [a-zA-Z_] [a-zA-Z0-9_]* ;
INT : DIGITS | '0' [xX] [0-9a-fA-F]+ ;
FLOAT : DIGITS '.' DIGITS EXPONENT? | DIGITS EXPONENT ;
STRING : '"' ( ~["\\\r\n] | '\\' ~[\r\n] )* '"' ;

COMMENT : '(*' { nested_comment(); } -> channel(HIDDEN) ;
LINE_COMMENT : '--' ~[\r\n]* -> channel(HIDDEN) ;
BLANK : ( [ \t\r\n\f] | '\u00EF' '\u00BB' '\u00BF' )+ -> skip ;

// What no rule of the grammar takes: recognised to be explained.
// OPEN_COMMENT matches nothing (the scanner is fed bytes): nested_comment names it.
OPEN_COMMENT : '(*' '\u0100' ;
OPEN_STRING : '"' ( ~["\\\r\n] | '\\' ~[\r\n] )* '\\'? ;
FOREIGN
  : ':=' | '<>' | '=/=' | '===' | '!==' | '=>' | '&&' | '&' | '||' | '|' | '!' | '~' | '<<' | '>>' | '**' | '?'
  | '+=' | '-=' | '*=' | '/=' | '%=' | '++' | '//' | '/*' | '#' ;
BAD_FLOAT : DIGITS '.' EXPONENT? | '.' DIGITS EXPONENT? ;
BAD_NUMBER : [0-9] [a-zA-Z0-9_]* ;
INVALID : . ;

fragment DIGITS : [0-9] ( '_'? [0-9] )* ;
fragment EXPONENT : [eE] [+-]? [0-9]+ ;
