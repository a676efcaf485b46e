/** What a search of the web finds, whatever it looks for. */
export const SOURCE = {
  words: '(emulated.example)',
  title: 'Emulated results',
  url: 'https://emulated.example/results',
} as const
