// How much shorter the waits of hosts are in tests: a wait of two seconds takes 0.4 s.
export const PACE = 0.2;
