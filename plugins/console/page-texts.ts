/** The page's scripts and styles as texts. */
export interface PageTexts {
  /** By file name, which may have folders. */
  readonly files: Readonly<Record<string, string>>
  /** File name of the script that starts the page. */
  readonly script: string
  /** File name of the style sheet. */
  readonly styles: string
  /** File names of the modules that the script imports, so that the browser need not discover them one by one. */
  readonly preloaded: readonly string[]
  /** Bare module specifiers, and the names of the files that they stand for. Undefined: the files have none. */
  readonly libraries?: Readonly<Record<string, string>>
  /** Whether a file's name contains a hash of its content, so that browsers need not ask for it again. */
  readonly hashed: boolean
}
