import type { AdminConsent } from '../../../plugins/admin/consents.ts'
import { toAdminConsentView } from '../../../plugins/admin/views/consents.ts'
import { wordOf } from '../arguments.ts'
import type { Command, Commands } from '../command.ts'
import { allItems, type CommandContext } from '../context.ts'
import { columns, printJson, time } from '../terminal.ts'

const list: Command['run'] = async (_words, { state, json }, on) => {
  const filter = { state: wordOf(state, ['withdrawn'], '--state') }
  for await (const consent of allItems((page) => on.operations.consents.list(on.actor, filter, page)))
    if (json) printJson(on.out, toAdminConsentView(consent))
    else on.out(lineOf(consent))
}

/** Group, owner, status, and when the person was verified, the consent was last used, and withdrawn. */
const lineOf = (consent: AdminConsent): string => {
  const { group, owner, ownerName = owner, verifiedAt, usedAt, withdrawal } = consent
  return columns(
    ...[group, ownerName, toAdminConsentView(consent).status],
    verifiedAt === undefined ? 'not known to be verified' : `verified ${time(verifiedAt)}`,
    usedAt === undefined ? 'not used' : `used ${time(usedAt)}`,
    ...(withdrawal ? [`withdrawn ${time(withdrawal.at)} by the ${withdrawal.actor.by}`] : []),
  )
}

/** Prints a consent as JSON. */
const print = async (on: CommandContext, consent: Promise<AdminConsent>): Promise<void> =>
  printJson(on.out, toAdminConsentView(await consent))

/** As it is, because a document with a changed byte does not verify. Ids and times need no escapes. */
const exportDocument: Command['run'] = async ([group = ''], _flags, on) =>
  on.out(await on.operations.consents.export(on.actor, group))

const keys: Command['run'] = async (_words, _flags, on) => {
  for (const key of await on.operations.consents.keys()) printJson(on.out, key)
}

/** The commands of the consents of persons. */
export const consentCommands: Commands = {
  'consent list': { positionals: [0, 0], flags: ['state'], switches: ['json'], run: list },
  'consent show': {
    positionals: [1, 1],
    run: ([group = ''], _flags, on) => print(on, on.operations.consents.get(on.actor, group)),
  },
  'consent withdraw': {
    positionals: [1, 1],
    run: ([group = ''], _flags, on) => print(on, on.operations.consents.withdraw(on.actor, group)),
  },
  'consent delete': {
    positionals: [1, 1],
    run: ([group = ''], _flags, on) => print(on, on.operations.consents.remove(on.actor, group)),
  },
  'consent export': { positionals: [1, 1], run: exportDocument },
  'consent keys': { positionals: [0, 0], run: keys },
}
