import fc from 'fast-check'
import type { Reply } from '../support/gateway.ts'
import { groupListFault, injectFault } from './faults.ts'
import { checkList, updateCreateTimes } from './list-check.ts'
import { type Endpoint, type ListRequest, listRequest, resolveRequest } from './list-request.ts'
import { send, sendChecked } from './send.ts'
import { step, user } from './step.ts'

export const list = (endpoint: Endpoint) =>
  step(
    `list ${endpoint}`,
    fc.record({ user, request: listRequest() }),
    async ({ user, request }: { user: number; request: ListRequest }, model, fixture) => {
      const fault = endpoint === 'groups' ? groupListFault(request.fault) : request.fault
      const resolved = resolveRequest(model, user, endpoint, request)
      injectFault(fixture.emulator, fault, endpoint === 'groups' ? 'ListAssetGroups' : 'ListAssets')
      const { path, body, named } = resolved
      const reply = await sendChecked(fixture, model, { user, method: 'GET', path, body, named })
      await updateCreateTimes(model, fixture)
      checkList(model, fixture.emulator.library, { user, request: resolved, fault }, reply)
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
  async ({ user, at, back, PageSize, change }, model, fixture) => {
    const token = back ? model.tokens.at(-1) : model.tokens[at % model.tokens.length]
    if (!token) return
    const { again, endpoint } = token.request
    const who = user ?? token.user
    const query = { ...again.query, ...change, PageSize, NextToken: token.text }
    const request = resolveRequest(model, who, endpoint, { ...again, query })
    const { path, body, named } = request
    const reply = await sendChecked(fixture, model, { user: who, method: 'GET', path, body, named })
    await updateCreateTimes(model, fixture)
    checkList(model, fixture.emulator.library, { user: who, request, fault: 'none' }, reply)
  },
)

export const listTogether = step(
  'all users list concurrently',
  fc.record({ request: listRequest() }),
  async ({ request }, model, fixture) => {
    const { library } = fixture.emulator
    const plain: ListRequest = { ...request, fault: 'none' }
    const lists = [0, 1, 2].flatMap((user) =>
      (['groups', 'assets'] as const).map((endpoint) => ({
        user,
        request: resolveRequest(model, user, endpoint, plain),
      })),
    )
    fixture.emulator.clearCalls()
    const replies = await Promise.all(
      lists.map(({ user, request: { path, body, named } }) => send(model, { user, method: 'GET', path, body, named })),
    )
    await updateCreateTimes(model, fixture)
    lists.forEach((list, at) => {
      checkList(model, library, { ...list, fault: 'none' }, replies[at] as Reply)
    })
  },
)
