/*
 * A barrier for two processes whose sense turns around with each round.
 * Under PSO the others may be let go before the count is set again, and then nobody comes through.
 */
#define N 2

byte left = N;
bit sense;
byte phase[N];

active [N] proctype worker() {
  byte me = _pid;
  byte other = 1 - _pid;
  bit mine = 0;
  bit done;
  byte round, seen;
  for (round : 1 .. 3) {
    phase[me] = round;
    mine = 1 - mine;
    done = 0;
    do
    :: done -> break
    :: else ->
       seen = left;
       done = cas(left, seen, seen - 1)
    od;
    if
    :: seen == 1 ->
       left = N;
       sense = mine
    :: else -> (sense == mine)
    fi;
    assert(phase[other] >= round)
  }
}
