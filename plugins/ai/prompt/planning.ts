// Tells whether a question asks how a stack should be built, rather than what happened to it.

const WORDS = [
  'what services',
  'which services',
  'what should i use',
  'which should i use',
  'recommend',
  'setup',
  'set up',
  'workflow',
  'usenet',
  'debrid',
];

export function isPlanning(question: string): boolean {
  const text = question.toLowerCase();
  return WORDS.some(word => text.includes(word));
}
