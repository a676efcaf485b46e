/** Runs with `--all`: a process for each command of the page. */
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../../src/store/index.ts'
import { documentOfServer } from '../support/document.ts'
import { describeIf } from '../support/run-if.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'
import { findProgram, run } from './fixture.ts'
import { commandsOf, differences, differentLines, jsonValues, type PageCommand } from './page.ts'

const root = join(import.meta.dir, '../..')
const page = readFileSync(join(root, 'src/administration.md'), 'utf8')
const commands = commandsOf(page)

const idOf = async (store: Store, name: string) => {
  const user = await store.adminUserByName(name)
  if (!user) throw new Error(`there is no user ${name}`)
  return user.id
}

const day = 86_400_000

/** What has happened before the commands of a section. */
const before: Readonly<Record<string, (fixture: ServerFixture, url: string) => Promise<void>>> = {
  async Usage({ store }, url) {
    const bob = await idOf(store, 'bob')
    const { createToken, hashToken } = await import('../../plugins/api-token/index.ts')
    const token = createToken()
    await store.addToken({ user: bob, hash: hashToken(token), start: token.slice(0, 9), createdAt: Date.now() })
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'doubao-seed-emulated', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    expect([response.status, await response.json()]).toMatchObject([200, { object: 'chat.completion' }])
  },

  async 'Groups with an unknown outcome'({ store }) {
    const user = await idOf(store, 'bob')
    const now = Date.now()
    for (const [nth, name] of ['cats', 'dogs'].entries())
      await store.claim({ user, type: 'AIGC', name, createdAt: now + nth, dueAt: now + day })
  },

  async 'Videos that need a decision'({ store }) {
    const user = await idOf(store, 'bob')
    const now = Date.now()
    const claim = async (id: string) => {
      const added = await store.addVideoTask(
        {
          ...{ id, user, model: 'doubao-seedance-2-0-260128', serviceTier: 'default' },
          ...{ fields: '{}', request: '{}', createdAt: now, expiresAt: now + 2 * day },
        },
        undefined,
        now + day,
      )
      if (added.outcome !== 'claimed') throw new Error(`the task is ${added.outcome}`)
      return added.task
    }
    const lost = await claim('cgt-20990101000000-1')
    const error = { code: 'create_outcome_unknown', message: 'it is not known' }
    await store.failVideoTask(lost, JSON.stringify({ id: lost.id, status: 'failed', error }), now, true)
    const hanging = await claim('cgt-20990101000000-2')
    await store.confirmVideoTask(hanging, 'cgt-20990101000000-hangs', now, now + day)
    const move = { id: hanging.id, status: 'running', task: '{"status":"running"}', dueAt: now + day } as const
    await store.moveVideoTasks([move], now)
    await store.moveVideoTasks([{ ...move, overruns: true }], now + 1)
  },

  async 'Batches of assets'({ store }) {
    const id = `batch-${'0'.repeat(32)}`
    const batch = { id, user: await idOf(store, 'bob'), group: 'group-20990101000000-cats1', groupType: 'AIGC' }
    const items = ['a', 'b'].map((name) => ({ name, body: '{}' }))
    await store.addAssetBatch({ ...batch, createdAt: Date.now() }, items, 10)
    // The server does not work on it.
    await store.postponeAssetBatch(id, Date.now() + day)
  },

  async 'Consents of persons'({ store }) {
    const user = await idOf(store, 'bob')
    const group = { id: 'group-20990101000000-faces', user, type: 'LivenessFace', name: 'a face' }
    await store.adoptGroup({ ...group, createdAt: Date.now() })
  },
}

/** The value at a place in an output, such as `user.id`. */
const valueAt = (place: string, output: string): string => {
  if (place === 'the last line') return output.trimEnd().split('\n').at(-1) ?? ''
  const value = place
    .split('.')
    .reduce((inside: unknown, key) => (inside as Record<string, unknown> | undefined)?.[key], jsonValues(output)[0])
  if (typeof value !== 'string') throw new Error(`the answer has no ${place}: ${output}`)
  return value
}

/** The requests of a command to the server, as `METHOD /path/{}`. */
const requestsOf = ({ code }: PageCommand): readonly string[] =>
  code.split('\n').flatMap((line) => {
    const [, path] = /^curl .*"\$SLUICE(\/[^"?]*)/.exec(line) ?? []
    const [, method = /--(?:json|data)/.test(line) ? 'POST' : 'GET'] = / -X (\w+)/.exec(line) ?? []
    return path === undefined ? [] : [`${method} ${path.replace(/\$\w+/g, '{}')}`]
  })

const faultsOf = ({ output: expected }: PageCommand, output: string): readonly string[] => {
  if (expected?.kind === 'text') return differentLines(expected.text, output)
  if (!expected) return output === '' ? [] : [output]
  return differences(jsonValues(expected.text), jsonValues(output))
}

test('the page has a command for each route of the admin API', async () => {
  const document = await documentOfServer()
  const routes = Object.entries(document.paths ?? {})
    .filter(([path]) => path.startsWith('/api/admin/'))
    .flatMap(([path, methods]) => Object.keys(methods ?? {}).map((method) => `${method.toUpperCase()} ${path}`))
  expect(routes.length).toBeGreaterThan(30)
  const requests = new Set(commands.flatMap(requestsOf))
  expect(routes.map((route) => route.replace(/\{\w+\}/g, '{}')).filter((route) => !requests.has(route))).toEqual([])
})

const curl = findProgram('curl')
const hasCurl = curl !== undefined && findProgram('bash') !== undefined
describeIf(hasCurl, 'curl or bash is not installed')("the page of operators' tasks", () => {
  test('works: each command prints what the page says', async () => {
    await using fixture = await openServerFixture()
    const { emulator } = fixture
    const environment = {
      ...{ TEXT_UPSTREAM_URL: emulator.text.url, TEXT_UPSTREAM_KEY: emulator.text.key },
      ...{ VIDEO_UPSTREAM_URL: emulator.video.url, VIDEO_UPSTREAM_KEY: emulator.video.key },
    }
    const server = await fixture.start(environment)
    const folder = mkdtempSync(join(tmpdir(), 'sluice-tasks-'))
    try {
      // `bun run admin` of this repository, in the folder of the commands.
      const admin = `#!/bin/bash\nexec ${process.execPath} ${join(root, 'src/admin.ts')} "\${@:3}"\n`
      await writeFile(join(folder, 'bun'), admin)
      await chmod(join(folder, 'bun'), 0o755)
      let env: Record<string, string> = {
        ...{ ...fixture.environment, ...environment },
        PATH: `${folder}:${process.env.PATH}`,
      }
      let heading = ''
      for (const command of commands) {
        if (command.heading !== heading) await before[command.heading]?.(fixture, server.url)
        heading = command.heading
        const code = command.code.replaceAll('http://localhost:3000', server.url)
        const result = await run(['bash', '-c', `exec 2>&1; ${code}\nenv -0 > ${folder}/env`], { cwd: folder, env })
        expect([command.code, result.output, faultsOf(command, result.output)]).toEqual([
          command.code,
          result.output,
          [],
        ])
        const exported = readFileSync(join(folder, 'env'), 'utf8').split('\0')
        const named = /^(?:export )?(\w+)=/gm
        for (const [, name = ''] of code.matchAll(named))
          env[name] = exported.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
        for (const [name, place] of command.variables) env = { ...env, [name]: valueAt(place, result.output) }
      }
      const { store } = fixture
      const bob = await idOf(store, 'bob')
      for (const end of ['abcde', 'fghij'])
        expect(await store.group(`group-20990101000000-${end}`)).toMatchObject({ user: bob, type: 'AIGC' })
      expect((await store.pendingGroups({ limit: 9 })).items).toEqual([])
      const decided = await Promise.all([1, 2].map((nth) => store.anyVideoTask(`cgt-20990101000000-${nth}`)))
      expect(decided).toMatchObject([{ upstreamId: 'cgt-20990101000000-abcde' }, { status: 'failed' }])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }, 300_000)
})

describe('the check of the page finds', () => {
  const check = (output: string, kind: 'json' | 'text', actual: string) => {
    const [command] = commandsOf(
      `## A\n\n\`\`\`sh\nrun\n# ID is user.id\n\`\`\`\n\nIt prints:\n\n\`\`\`${kind}\n${output}\n\`\`\`\n`,
    )
    if (!command) throw new Error('there is no command')
    return [command.variables, faultsOf(command, actual).length] as const
  }
  const cases: readonly (readonly [string, string, 'json' | 'text', string])[] = [
    ['another value', '{"a":1}', 'json', '{"a":2}'],
    ['a further member', '{"a":1}', 'json', '{"a":1,"b":2}'],
    ['a missing member', '{"a":1,"b":"…","…":"…"}', 'json', '{"a":1,"c":2}'],
    ['a further answer', '{"a":1}', 'json', '{"a":1}{"a":1}'],
    ['a further item', '[{"a":"x…"}]', 'json', '[{"a":"xyz"},{"a":"xy"}]'],
    ['another text', '{"a":"x…z"}', 'json', '{"a":"xy"}'],
    ['another line', 'a…\nb', 'text', 'ab\nc'],
    ['a further line', 'a', 'text', 'a\nb'],
  ]
  for (const [name, expected, kind, actual] of cases) {
    test(name, () => {
      expect(check(expected, kind, actual)).toEqual([[['ID', 'user.id']], 1 + Number(name === 'a further line') * 2])
      const same = expected.replaceAll('"…":"…"', '"d":4').replaceAll('…', 'y')
      expect(check(expected, kind, same)[1]).toBe(0)
    })
  }
})
