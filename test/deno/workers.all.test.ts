/** Runs with `--all`: servers of several processes on Deno. test/runtime compares both runtimes. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { workerFlags } from '../../src/server/deno-flags.ts'
import { freePort } from '../support/free-port.ts'
import { denoBinary, NotListening, root, type ServerProcess } from '../support/server.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { commandsOf, valuesOf, withValues } from './fixture.ts'

setDefaultTimeout(300_000)

/** The flags of each worker's command line. */
const flagsOfWorkers = (server: ServerProcess): readonly (readonly string[])[] =>
  execFileSync('ps', ['-ww', '-o', 'args=', '--ppid', String(server.pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((command) => command.split(' ').filter((word) => word.startsWith('-')))

const pageFlags = commandsOf('src/server.ts').find((flags) => flags.includes('--allow-run=deno')) ?? []

describe('workers on Deno', () => {
  test('get the permissions of the supervisor, without that to start processes, and serve with them', async () => {
    await using fixture = await openServerFixture()
    const port = await freePort()
    const values = valuesOf(fixture)
    const supervisorFlags = withValues(pageFlags, {
      ...values,
      '127.0.0.1:3000': `127.0.0.1:${port}`,
      deno: join(root, denoBinary()),
    })
    const server = await fixture.start({ WORKERS: '2', PORT: String(port) }, 'deno', supervisorFlags)
    const workers = flagsOfWorkers(server)
    expect(workers).toHaveLength(2)
    for (const flags of workers) {
      expect(flags).toEqual([
        '--allow-env',
        '--allow-sys=hostname',
        `--allow-net=127.0.0.1:${port},${values['upstream.example:443']}`,
        `--allow-read=${[values.data, values['data/storage']].join(',')}`,
        `--allow-write=${values.data},${values['data/storage']}`,
      ])
    }
    const { token } = await fixture.addUser('ann')
    const headers = { authorization: `Bearer ${token}` }
    // Each request has a connection of its own, so that the system spreads them over the workers.
    for (let nth = 0; nth < 10; nth++) {
      for (const path of ['/console', '/api/media/proxy/assets']) {
        const response = await fetch(`${server.url}${path}`, { headers, keepalive: false })
        await response.bytes()
        expect([path, response.status]).toEqual([path, 200])
      }
    }
    expect([await server.kill('SIGTERM'), server.stderr()]).toEqual([0, ''])
  })

  test('do not start without the permission to start processes, or to read the whole environment', async () => {
    await using fixture = await openServerFixture()
    const values = { ...valuesOf(fixture), deno: join(root, denoBinary()) }
    const start = async (flags: readonly string[]) => {
      const failure = await fixture.start({ WORKERS: '2' }, 'deno', withValues(flags, values)).catch((error) => error)
      if (!(failure instanceof NotListening)) throw failure
      return `${failure.status} ${failure.stderr.trim()}`
    }
    expect(await start(pageFlags.filter((flag) => !flag.startsWith('--allow-run')))).toMatch(
      /^1 sluice could not start: Requires run access to "\S+\/deno", run again with the --allow-run flag$/,
    )
    const [singleProcess = []] = commandsOf('src/server.ts')
    expect(await start([...singleProcess, '--allow-run=deno'])).toMatch(
      /^1 sluice could not start: Requires env access, run again with the --allow-env flag$/,
    )
  })
})

describe('the flags of a worker', () => {
  const environment = {
    DATABASE_URL: 'sqlite:/srv/data/sluice.db',
    HOST: '::1',
    MEDIA_UPSTREAM_URL: 'https://media.example/api/media/proxy',
    MEDIA_UPSTREAM_KEY: 'a-key',
    TEXT_UPSTREAM_URL: 'http://text.example/v1',
  }

  /** @param granted permissions, or `permission value` @param limited those that are granted with exceptions */
  const flags = (granted: readonly string[], limited: readonly string[] = [], databaseUrl?: string) => {
    const config = readConfig({ ...environment, ...(databaseUrl && { DATABASE_URL: databaseUrl }) })
    if ('problems' in config) throw new Error(config.problems.join('\n'))
    return workerFlags(config, {
      querySync({ name, ...value }) {
        const asked = [name, ...Object.values(value)].join(' ')
        const isLimited = limited.includes(asked)
        return { state: isLimited || granted.includes(asked) ? 'granted' : 'prompt', partial: isLimited }
      },
    })
  }

  test('a permission as a whole is passed on as a whole, except those that no worker uses', () => {
    expect(flags(['env', 'sys', 'net', 'read', 'write', 'run', 'ffi', 'import'])).toEqual([
      '--allow-env',
      '--allow-sys',
      '--allow-net',
      '--allow-read',
      '--allow-write',
    ])
  })

  test('otherwise those values are passed on that the configuration names and the supervisor has', () => {
    const hosts = ['net [::1]:3000', 'net media.example:443', 'net text.example:80', 'net other.example:443']
    expect(flags(['env', ...hosts, 'read /srv/data', 'write /srv/data', 'run deno'])).toEqual([
      '--allow-env',
      '--allow-net=[::1]:3000,media.example:443,text.example:80',
      '--allow-read=/srv/data',
      '--allow-write=/srv/data',
    ])
    const databaseUrl = 'postgres://sluice:secret@database.example/sluice'
    expect(flags(['env', 'net database.example:5432'], [], databaseUrl)).toEqual([
      '--allow-env',
      '--allow-net=database.example:5432',
    ])
  })

  test('the files of the configuration can be read', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'sluice-')), 'upstreams.json')
    writeFileSync(file, '[{"url":"http://text.example/v1"}]')
    const config = readConfig({ TEXT_UPSTREAMS: `@${file}` })
    if ('problems' in config) throw new Error(config.problems.join('\n'))
    const querySync = ({ path }: Readonly<Record<string, string>>) => ({
      state: path === file ? 'granted' : 'prompt',
      partial: false,
    })
    expect(workerFlags(config, { querySync })).toEqual([`--allow-read=${file}`])
  })

  test('a permission with exceptions is never passed on as a whole', () => {
    expect(flags(['env', 'net [::1]:3000'], ['net', 'read /srv/data'])).toEqual([
      '--allow-env',
      '--allow-net=[::1]:3000',
    ])
  })

  test('a path with a comma does not become two', () => {
    expect(flags(['env', 'read /srv,/etc'], [], 'sqlite:/srv,/etc/sluice.db')).toEqual(['--allow-env'])
  })
})
