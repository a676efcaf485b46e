import fc from 'fast-check'
import type { Reply } from '../support/gateway.ts'
import { checkList, learnDates } from './list-check.ts'
import { type Endpoint, type ListAsk, listAsk, settle } from './list-request.ts'
import { step, user } from './step.ts'
import { ofGroups, strike } from './trouble.ts'
import { ask, asking } from './turn.ts'

export const list = (endpoint: Endpoint) =>
  step(
    `list ${endpoint}`,
    fc.record({ user, asked: listAsk() }),
    async ({ user, asked }: { user: number; asked: ListAsk }, model, world) => {
      const trouble = endpoint === 'groups' ? ofGroups(asked.trouble) : asked.trouble
      const settled = settle(model, user, endpoint, asked)
      strike(world.emulator, trouble, endpoint === 'groups' ? 'ListAssetGroups' : 'ListAssets')
      const { path, body, named } = settled
      const reply = await ask(world, model, { user, method: 'GET', path, body, named })
      await learnDates(model, world)
      checkList(model, world.emulator.library, { user, asked: settled, trouble }, reply)
    },
  )

export const followToken = step(
  'follow a token',
  fc.record({
    user: fc.option(user, { freq: 2 }),
    at: fc.nat(50),
    back: fc.boolean(),
    PageSize: fc.constantFrom(1, 2, 100),
    change: fc.constantFrom({}, {}, {}, {}, { SortOrder: 'Asc' }, { Name: 'cat' }, { GroupType: 'LivenessFace' }),
  }),
  async ({ user, at, back, PageSize, change }, model, world) => {
    const token = back ? model.tokens.at(-1) : model.tokens[at % model.tokens.length]
    if (!token) return
    const { again, endpoint } = token.asked
    const who = user ?? token.user
    const query = { ...again.query, ...change, PageSize, NextToken: token.text }
    const asked = settle(model, who, endpoint, { ...again, query })
    const { path, body, named } = asked
    const reply = await ask(world, model, { user: who, method: 'GET', path, body, named })
    await learnDates(model, world)
    checkList(model, world.emulator.library, { user: who, asked, trouble: 'none' }, reply)
  },
)

export const listTogether = step(
  'all list at once',
  fc.record({ asked: listAsk() }),
  async ({ asked }, model, world) => {
    const { library } = world.emulator
    const plain: ListAsk = { ...asked, trouble: 'none' }
    const lists = [0, 1, 2].flatMap((user) =>
      (['groups', 'assets'] as const).map((endpoint) => ({ user, asked: settle(model, user, endpoint, plain) })),
    )
    world.emulator.clearCalls()
    const replies = await Promise.all(
      lists.map(({ user, asked: { path, body, named } }) => asking(model, { user, method: 'GET', path, body, named })),
    )
    await learnDates(model, world)
    lists.forEach((list, at) => {
      checkList(model, library, { ...list, trouble: 'none' }, replies[at] as Reply)
    })
  },
)
