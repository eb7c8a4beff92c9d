// Prediction of the parser's decisions, with a short cut for the decisions that one token settles.
#pragma once

#include <RmlParser.h>
#include <antlr4-runtime.h>

namespace rml {

// Looks a prediction up directly if the next token alone decides, which is the usual case. This
// needs no lock of ANTLR's, because grammar_mutex excludes other threads.
class Prediction final : public antlr4::atn::ParserATNSimulator {
 public:
  explicit Prediction(grammar::RmlParser& parser)
      : ParserATNSimulator(&parser, parser.getATN(),
                           parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->decisionToDFA,
                           parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->getSharedContextCache()),
        parser_(parser) {
    setPredictionMode(antlr4::atn::PredictionMode::SLL);
  }

  std::size_t adaptivePredict(antlr4::TokenStream* input, std::size_t decision,
                              antlr4::ParserRuleContext* context) override {
    const antlr4::dfa::DFA& dfa = decisionToDFA[decision];
    const antlr4::dfa::DFAState* const start =
        dfa.isPrecedenceDfa() ? dfa.getPrecedenceStartState(parser_.getPrecedence()) : dfa.s0;
    if (start != nullptr) {
      const auto next = start->edges.find(input->LA(1));
      if (next != start->edges.end() && next->second->isAcceptState && next->second->predicates.empty())
        return next->second->prediction;
    }
    return ParserATNSimulator::adaptivePredict(input, decision, context);
  }

 private:
  grammar::RmlParser& parser_;
};

}  // namespace rml
