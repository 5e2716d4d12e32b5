// How fast the hosts of tests are: an observation of two seconds takes 0.4 s.
export const PACE = 0.2;
