/*
 * A writer counts around in two variables and never waits; a reader looks at what it finds.
 * The buffer of the writer holds any number of rounds.
 */
byte first, second;

active proctype writer() {
  byte round;
  do
  :: first = round;
     second = round;
     round = (round + 1) % 3
  od
}

active proctype reader() {
  byte a, b;
  do
  :: a = second;
     b = first;
     assert(a < 3 && b < 3)
  od
}
