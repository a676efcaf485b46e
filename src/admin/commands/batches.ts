import type { AdminAssetBatch } from '../../../plugins/admin/asset-batches.ts'
import { toAdminAssetBatchView } from '../../../plugins/admin/views/asset-batches.ts'
import { wordOf } from '../arguments.ts'
import type { Command, Commands } from '../command.ts'
import { allItems, requireUser } from '../context.ts'
import { columns, printJson, time } from '../terminal.ts'

const list: Command['run'] = async (_words, { user, state, json }, on) => {
  const filter = {
    user: user === undefined ? undefined : (await requireUser(on, user)).id,
    state: wordOf(state, ['running'], '--state'),
  }
  for await (const batch of allItems((page) => on.operations.assetBatches.list(on.actor, filter, page)))
    if (json) printJson(on.out, toAdminAssetBatchView(batch))
    else on.out(lineOf(batch))
}

/** Id, user, group, times, and the number of items in each state. */
const lineOf = (batch: AdminAssetBatch): string => {
  const { id, user, userName = user, group, createdAt, cancelledAt, endedAt, dueAt } = batch
  const { counts } = toAdminAssetBatchView(batch)
  return columns(
    ...[id, userName, group, `created ${time(createdAt)}`],
    ...(cancelledAt === undefined ? [] : [`cancelled ${time(cancelledAt)}`]),
    ...(endedAt === undefined ? [] : [`ended ${time(endedAt)}`]),
    ...(dueAt === undefined ? [] : [`due ${time(dueAt)}`]),
    ...Object.entries(counts).map(([state, count]) => `${state} ${count}`),
  )
}

/** The commands of batches of assets. */
export const batchCommands: Commands = {
  'batch list': { positionals: [0, 0], flags: ['user', 'state'], switches: ['json'], run: list },
  'batch cancel': {
    positionals: [1, 1],
    run: async ([id = ''], _flags, on) => void (await on.operations.assetBatches.cancel(on.actor, id)),
  },
}
