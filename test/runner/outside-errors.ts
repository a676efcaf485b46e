import { relative } from 'node:path'

/**
 * Finds, in the lines that the runner prints, the files during which an error was thrown outside of all tests. The
 * runner's report does not have these errors. When several files run at a time, it prints them below the name of any,
 * so only the stack of the error tells.
 */
export class OutsideErrors {
  /** Paths of the files. Empty: the stack of an error has no test file, so the error may be of any. */
  readonly files = new Set<string>()
  readonly #folder: string
  /** The file of the error that is being printed. Undefined: none is. */
  #file: string | undefined
  #borders = 0

  /** @param folder that of the runner, absolute */
  constructor(folder: string) {
    this.#folder = folder
  }

  read(line: string): void {
    if (line === '# Unhandled error between tests') {
      this.#file = ''
      this.#borders = 0
    }
    if (this.#file === undefined) return
    const [, path] = /^ +at (?:.*\()?(\/\S+\.test\.ts):\d+/.exec(line) ?? []
    if (path !== undefined) this.#file ||= relative(this.#folder, path)
    if (line !== border || ++this.#borders < 2) return
    this.files.add(this.#file)
    this.#file = undefined
  }
}

/** The line before and after an error. */
const border = '-'.repeat(31)
