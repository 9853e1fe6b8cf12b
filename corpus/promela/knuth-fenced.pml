/*
 * Knuth's algorithm for two processes, entered again and again.
 * Each claim drains before the look at the claim of the other, and the section before it is left.
 */
#define set(variable, value)  variable = value; fence
mtype = { idle, asking, claiming };
mtype state[2] = idle;
byte turn;
byte ncrit;

inline enter(me, other) {
again:
  set(state[me], asking);
  do
  :: turn == me -> break
  :: state[other] == idle -> break
  od;
  set(state[me], claiming);
  if
  :: state[other] == claiming -> goto again
  :: else
  fi;
  set(turn, me)
}

inline leave(me, other) {
  set(turn, other);
  state[me] = idle
}

active [2] proctype user() {
  do
  :: enter(_pid, 1 - _pid);
     ncrit++;
     assert(ncrit == 1);
     set(ncrit, ncrit - 1);
     leave(_pid, 1 - _pid)
  od
}
