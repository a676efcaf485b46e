import { readUsageQuery } from '../../../plugins/admin/operations/usage.ts'
import { date, UsageError } from '../arguments.ts'
import { auditFilterOf, printAudit } from '../audit.ts'
import { printVerification } from '../audit-verification.ts'
import type { Command, Commands } from '../command.ts'
import { requireTeam, requireUser } from '../context.ts'
import { printUsage } from '../usage.ts'

const usage: Command['run'] = async ([name], flags, on) => {
  const since = flags.since === undefined ? undefined : date(flags.since, '--since')
  const until = flags.until === undefined ? undefined : date(flags.until, '--until')
  if (since !== undefined && until !== undefined && since > until) throw new UsageError('--since is after --until')
  if (flags.json && flags.csv) throw new UsageError('--json and --csv exclude each other')
  const query = readUsageQuery({
    ...{ since, until, token: flags.token, model: flags.model, kind: flags.kind },
    user: name === undefined ? undefined : (await requireUser(on, name)).id,
    team: flags.team === undefined ? undefined : (await requireTeam(on, flags.team)).id,
    group_by: flags['group-by'] ?? 'day,user,token,model',
  })
  await printUsage((page) => on.operations.usage.sum(on.actor, query, page), query.by, formatOf(flags), on.out)
}

const formatOf = ({ json, csv }: { readonly json?: boolean; readonly csv?: boolean }) =>
  json ? 'json' : csv ? 'csv' : 'columns'

/** The commands of reports. */
export const reportCommands: Commands = {
  usage: {
    positionals: [0, 1],
    flags: ['since', 'until', 'team', 'token', 'model', 'kind', 'group-by'],
    switches: ['json', 'csv'],
    run: usage,
  },
  'audit verify': {
    positionals: [0, 1],
    flags: ['head'],
    worksOffline: true,
    run: ([file], { head }, on) => printVerification({ file, head }, on),
  },
  audit: {
    positionals: [0, 0],
    flags: ['user', 'action', 'since', 'until'],
    // It prints JSON in any case.
    switches: ['json'],
    run: (_words, flags, { store, out }) => printAudit(store, auditFilterOf(flags), out),
  },
}
