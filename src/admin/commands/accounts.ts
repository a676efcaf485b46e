import { CommandRejectedError } from '../arguments.ts'
import type { Command, Commands } from '../command.ts'
import { columns } from '../terminal.ts'

/** A name of `MEDIA_UPSTREAMS`. */
const isName = (text: string): boolean => /^[\w.-]{1,64}$/.test(text)

const first: Command['run'] = async ([name], _flags, { store, out, actor }) => {
  if (name === undefined) {
    const recorded = await store.firstAccount()
    if (recorded === undefined) throw new CommandRejectedError('no first account is recorded')
    return out(columns(recorded))
  }
  if (!isName(name)) throw new CommandRejectedError('a name has 1 to 64 letters, digits, or any of . _ -')
  await store.changeFirstAccount(name)
  await actor.record({ action: 'account.first', target: { kind: 'account', id: name } })
}

/** The commands of the accounts of the asset library. */
export const accountCommands: Commands = {
  'account first': { positionals: [0, 1], run: first },
}
