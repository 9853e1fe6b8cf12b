/*
 * A lock by version numbers: readers take two values only if no writer was at work.
 * PSO may let the values and the versions reach memory in any order.
 */
byte version;
byte first, second;

active proctype writer() {
  byte round;
  for (round : 1 .. 2) {
    version = 2 * round - 1;
    first = round;
    second = round;
    version = 2 * round
  }
}

active [2] proctype reader() {
  byte before, a, b, after;
  before = version;
  if
  :: before % 2 == 0 ->
     a = first;
     b = second;
     after = version;
     if
     :: after == before -> assert(a == b)
     :: else
     fi
  :: else
  fi
}
