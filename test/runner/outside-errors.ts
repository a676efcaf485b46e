/** Finds, in the lines that the runner prints, the files during which an error was thrown outside of all tests. The runner's report does not have these errors. */
export class OutsideErrors {
  /** Paths of the files. Empty: before the first file. */
  readonly files = new Set<string>()
  #file = ''

  read(line: string): void {
    const header = /^(\S+\.test\.ts):$/.exec(line)
    if (header) this.#file = header[1] ?? ''
    else if (line === '# Unhandled error between tests') this.files.add(this.#file)
  }
}
