/*
 * The algorithm of Eisenberg and McGuire, entered again and again; every store drains at once.
 * A process looks at the others in the order from the turn on, and hands the turn to the next that waits.
 */
#define N 2
#define set(variable, value)  variable = value; fence
mtype = { idle, waiting, engaged };
mtype state[N] = idle;
byte turn;
byte ncrit;

active [N] proctype user() {
  byte i;
  do
  :: do
     :: set(state[_pid], waiting);
        i = turn;
        do
        :: i == _pid -> break
        :: else ->
           if
           :: state[i] != idle -> i = turn
           :: else -> i = (i + 1) % N
           fi
        od;
        set(state[_pid], engaged);
        i = 0;
        do
        :: i < N && (i == _pid || state[i] != engaged) -> i++
        :: else -> break
        od;
        if
        :: i >= N && (turn == _pid || state[turn] == idle) -> break
        :: else
        fi
     od;
     set(turn, _pid);
     ncrit++;
     assert(ncrit == 1);
     set(ncrit, ncrit - 1);
     i = (turn + 1) % N;
     do
     :: state[i] == idle -> i = (i + 1) % N
     :: else -> break
     od;
     set(turn, i);
     set(state[_pid], idle)
  od
}
