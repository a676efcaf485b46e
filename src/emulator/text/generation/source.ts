/** The only result of every web search. */
export const source = {
  words: '(emulated.example)',
  title: 'Emulated results',
  url: 'https://emulated.example/results',
} as const
