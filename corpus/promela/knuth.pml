/*
 * Knuth's algorithm for two processes, entered again and again.
 * A process asks, waits for its turn, claims the section, and begins anew if the other claims it too.
 * Nothing orders the claim with the look at the claim of the other, so a store buffer breaks it.
 */
mtype = { idle, asking, claiming };
mtype state[2] = idle;
byte turn;
byte ncrit;

active [2] proctype user() {
  byte other = 1 - _pid;
again:
  state[_pid] = asking;
  do
  :: turn == _pid -> break
  :: state[other] == idle -> break
  od;
  state[_pid] = claiming;
  if
  :: state[other] == claiming -> goto again
  :: else
  fi;
  turn = _pid;
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  turn = other;
  state[_pid] = idle;
  goto again
}
