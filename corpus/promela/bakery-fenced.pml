/*
 * Lamport's bakery for two processes that enter twice each, so that tickets stay small.
 * Fences after each announcement; under PSO also between the ticket and the flag, and before the release.
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
    fence;
    highest = number[other];
    number[me] = highest + 1;
    fence;
    choosing[me] = false;
    fence;
    (choosing[other] == false);
    (number[other] == 0 || number[other] > number[me] || (number[other] == number[me] && other > me));
    ncrit++;
    assert(ncrit == 1);
    ncrit--;
    fence;
    number[me] = 0
  }
}
