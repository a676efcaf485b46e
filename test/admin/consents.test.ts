import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { createDocumentSigner, verifyDocument } from '../../plugins/shared/consent/signature.ts'
import type { Store } from '../../src/store/index.ts'
import { runCommand } from '../support/admin-command.ts'
import { eachDatabase } from '../support/database.ts'

const now = 1_790_000_000_000
const at = new Date(now).toISOString()

eachDatabase('consent', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  const run = (args: readonly string[], sessionSecrets?: () => readonly string[] | { problems: string[] }) =>
    runCommand(store, args, { clock: { now: () => now }, ...(sessionSecrets && { sessionSecrets }) })
  const ok = async (...args: readonly string[]) => {
    const { status, out, err } = await run(args)
    expect([args, status, err]).toEqual([args, 0, []])
    return out
  }
  const addFace = async () => {
    const name = `u-${randomUUID()}`
    const owner = (await store.addUser({ name, createdAt: 1 })) ?? ''
    const group = randomUUID()
    await store.adoptGroup({ id: group, user: owner, type: 'LivenessFace', name: 'a face', createdAt: 1 })
    return { group, owner, name }
  }

  test('show and list print a consent, with the name of the owner', async () => {
    const { group, owner, name } = await addFace()
    const shown = {
      ...{ group, owner, owner_name: name, status: 'active', invitation: null, verified_at: null, used_at: null },
      ...{ withdrawal: null, deletion: null },
    }
    expect((await ok('consent', 'show', group)).map((line) => JSON.parse(line))).toEqual([shown])
    const lines = (await ok('consent', 'list', '--json')).map((line) => JSON.parse(line))
    expect(lines.filter((consent) => consent.group === group)).toEqual([shown])
    expect(await ok('consent', 'list')).toContain(
      [group, name, 'active', 'not known to be verified', 'not used'].join('\t'),
    )
    expect((await ok('consent', 'list', '--state', 'withdrawn')).join()).not.toContain(group)
  })

  test('withdraw and delete act once, without a user, and the audit trail says so', async () => {
    const { group, owner, name } = await addFace()
    await store.recordConsentUse({ task: randomUUID(), user: owner, assets: [{ id: 'a', group }], at: now - 1 })
    for (let nth = 0; nth < 2; nth++) {
      const [line = ''] = await ok('consent', 'withdraw', group)
      expect(JSON.parse(line)).toMatchObject({
        ...{ status: 'withdrawn', withdrawal: { at, by: 'admin', user: null, link_from: null }, deletion: null },
      })
    }
    expect(await ok('consent', 'list', '--state', 'withdrawn')).toContain(
      [
        group,
        name,
        'withdrawn',
        'not known to be verified',
        `used ${new Date(now - 1).toISOString()}`,
        `withdrawn ${at} by the admin`,
      ].join('\t'),
    )
    expect(await store.hasWithdrawn(group)).toBe(true)
    for (let nth = 0; nth < 2; nth++) {
      const [line = ''] = await ok('consent', 'delete', group)
      expect(JSON.parse(line)).toMatchObject({ status: 'deleting', deletion: { by: 'admin', user: null } })
    }
    expect((await store.dueConsentDeletions(now, 1_000)).map((due) => due.group)).toContain(group)
    const entries = (await ok('audit', '--user', name)).map((line) => JSON.parse(line))
    // Both have the same time, so no order.
    expect(entries.map(({ action, id, address }) => [action, id, address]).toSorted()).toEqual([
      ['consent.delete', group, 'admin'],
      ['consent.withdraw', group, 'admin'],
    ])
  })

  test('export prints a document that the printed keys verify', async () => {
    const { group, owner, name } = await addFace()
    const task = randomUUID()
    await store.recordConsentUse({ task, user: owner, assets: [{ id: 'a', group }], at: 5 })
    const [text = ''] = await ok('consent', 'export', group)
    expect(JSON.parse(text)).toMatchObject({ Consent: { GroupId: group }, Uses: [{ TaskId: task }] })
    const keys = (await ok('consent', 'keys')).map((line) => JSON.parse(line))
    expect(keys).toEqual([...createDocumentSigner([await store.secret('session')]).keys])
    expect(verifyDocument(text, keys)).toBe(true)
    const secrets = ['a newer secret of the suite', 'a secret of the test suite']
    const configured = await run(['consent', 'export', group], () => secrets)
    expect(verifyDocument(configured.out[0] ?? '', createDocumentSigner(secrets.slice(0, 1)).keys)).toBe(true)
    expect((await run(['consent', 'keys'], () => secrets)).out).toHaveLength(2)
    const entries = (await ok('audit', '--user', name)).map((line) => JSON.parse(line))
    expect(entries.map(({ action }) => action)).toEqual(['consent.export', 'consent.export'])
  })

  test('unknown groups, groups without a person, and wrong usage are errors', async () => {
    const { owner } = await addFace()
    const cats = randomUUID()
    await store.adoptGroup({ id: cats, user: owner, type: 'AIGC', name: cats, createdAt: 1 })
    for (const command of ['show', 'withdraw', 'delete', 'export'])
      for (const group of [cats, randomUUID(), '', '%00'])
        expect([command, group, await run(['consent', command, group])]).toEqual([
          ...[command, group],
          { status: 1, out: [], err: ['there is no consent for that group'] },
        ])
    const wrong = [
      ['list', '--state', 'active'],
      ['list', 'x'],
      ['show'],
      ['withdraw'],
      ['delete', 'a', 'b'],
      ['keys', 'x'],
    ]
    for (const args of wrong) expect([args, (await run(['consent', ...args])).status]).toEqual([args, 2])
    const invalid = await run(['consent', 'keys'], () => ({ problems: ['SESSION_SECRET must be longer'] }))
    expect(invalid).toEqual({ status: 2, out: [], err: ['SESSION_SECRET must be longer'] })
  })
})
