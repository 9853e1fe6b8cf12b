/*
 * Lamport's bakery for two processes that enter twice each, so that tickets stay small.
 * A process may look at the other's ticket while its own is still in its buffer.
 */
bool choosing[2];
byte number[2];
byte ncrit;

active [2] proctype user() {
  byte me = _pid;
  byte other = 1 - _pid;
  byte round;
  byte highest;
  for (round : 1 .. 2) {
    choosing[me] = true;
    highest = number[other];
    number[me] = highest + 1;
    choosing[me] = false;
    (choosing[other] == false);
    (number[other] == 0 || number[other] > number[me] || (number[other] == number[me] && other > me));
    ncrit++;
    assert(ncrit == 1);
    ncrit--;
    number[me] = 0
  }
}
