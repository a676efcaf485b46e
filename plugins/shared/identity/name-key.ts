/**
 * The form of a name by which names are compared: without regard to case and to compatibility variants (Unicode NFKC).
 * `Ann`, `ANN` and `Ａnn` have one key.
 */
export const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase().normalize('NFKC')
