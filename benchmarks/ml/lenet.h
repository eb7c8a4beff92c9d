// The parameters of LeNet, with the same random values as in the programs of the other frameworks.
#pragma once
#include "case.h"

struct Lenet {
  Buf w1 = draw(150, 1, root(25)), b1 = draw(6, 2, root(25)), w2 = draw(2400, 3, root(150)),
      b2 = draw(16, 4, root(150)), f1 = draw(48000, 5, root(400)), g1 = draw(120, 6, root(400)),
      f2 = draw(10080, 7, root(120)), g2 = draw(84, 8, root(120)), f3 = draw(840, 9, root(84)),
      g3 = draw(10, 10, root(84));
};
