import { createReadStream } from 'node:fs'
import { CsvError } from '../../../plugins/admin/user-import/csv-records.ts'
import { createUserImport, maxImportBytes } from '../../../plugins/admin/user-import/user-import.ts'
import { CommandRejectedError } from '../arguments.ts'
import type { Command, Commands } from '../command.ts'
import { columns, escapeForTerminal } from '../terminal.ts'

/** Reads a file. Stops, and throws CommandRejectedError, as soon as it is too long. */
const readFile = async (path: string): Promise<Uint8Array> => {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of createReadStream(path)) {
      bytes += chunk.length
      if (bytes > maxImportBytes) throw new Error(`it is longer than ${maxImportBytes} bytes`)
      chunks.push(chunk)
    }
  } catch (error) {
    throw new CommandRejectedError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
  return Buffer.concat(chunks)
}

const importUsers: Command['run'] = async ([path = ''], _flags, on) => {
  const file = await readFile(path)
  const outcome = await createUserImport(
    on.store,
    on,
  )(file).catch((error: unknown) => {
    throw error instanceof CsvError ? new CommandRejectedError(`${path}: ${error.message}`) : error
  })
  if ('wrong' in outcome) {
    for (const { line, reasons } of outcome.wrong) on.err(escapeForTerminal(`line ${line}: ${reasons.join('; ')}`))
    throw new CommandRejectedError(`nothing is imported: ${outcome.wrong.length} of ${outcome.lines} users are wrong`)
  }
  for (const { id, name } of outcome.users) on.out(columns(id, name))
}

/** The commands that import. */
export const importCommands: Commands = {
  'import users': { positionals: [1, 1], run: importUsers },
}
