import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { describeIf } from '../support/run-if.ts'
import { instructions, last } from './dockerfile.ts'
import { findProgram, operatingFile, run } from './fixture.ts'

const root = join(import.meta.dir, '../..')
const read = (name: string) => readFileSync(operatingFile(name), 'utf8')
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const defaults = readConfig({})
const drainSeconds = 'problems' in defaults ? 0 : (defaults.http.drainGraceMs + defaults.http.drainMs) / 1000

describe('the Dockerfile', () => {
  test('has known instructions only', () => {
    const known = 'FROM WORKDIR COPY RUN ENV USER VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD'.split(' ')
    expect(instructions.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([])
    expect(instructions[0]?.name).toBe('FROM')
  })

  test('pins its base images to the tested version of Bun', () => {
    const images = instructions.filter(({ name }) => name === 'FROM').map(({ text }) => text.split(' ')[0])
    expect(new Set(images)).toEqual(new Set([`oven/bun:${engines.bun.replace('>=', '')}-slim`]))
  })

  test('runs without root, with a health check, and receives SIGTERM itself', () => {
    const final = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
    expect(final.filter(({ name }) => name === 'USER').map(({ text }) => text)).toEqual(['bun'])
    // A later instruction could not write as root.
    const user = final.findIndex(({ name }) => name === 'USER')
    expect(final.slice(user).filter(({ name }) => name === 'RUN' || name === 'COPY')).toEqual([])
    expect(last('HEALTHCHECK')).toContain('/readyz')
    // The exec form: with a shell as first process, the server would not receive signals.
    for (const name of ['ENTRYPOINT', 'CMD']) expect(Array.isArray(JSON.parse(last(name) ?? ''))).toBe(true)
    expect(last('STOPSIGNAL')).toBe('SIGTERM')
  })
})

interface Service {
  readonly image?: string
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly environment?: Readonly<Record<string, string>>
  readonly env_file?: string
  readonly healthcheck?: object
  readonly stop_grace_period?: string
  readonly depends_on?: Readonly<Record<string, { condition: string }>>
  readonly networks: readonly string[] | Readonly<Record<string, { ipv4_address?: string } | null>>
  readonly volumes?: readonly string[]
}

describe('the compose file', () => {
  const { services, networks, volumes } = Bun.YAML.parse(read('compose.yml')) as {
    services: Record<'gateway' | 'postgres' | 'proxy', Service>
    networks: Record<string, object>
    volumes: Record<string, object>
  }
  const variables = [...read('compose.yml').matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name)

  test('refers only to services, networks, volumes and files that exist, and to pinned images', () => {
    for (const { image, build, depends_on = {}, networks: used, volumes: mounts = [] } of Object.values(services)) {
      if (image) expect(image).toMatch(/^[\w/]+:\d+\.\d+/)
      if (build) expect(existsSync(join(operatingFile(build.context), build.dockerfile))).toBe(true)
      for (const [name, { condition }] of Object.entries(depends_on)) {
        const { healthcheck, build } = services[name as keyof typeof services]
        expect([name, condition, Boolean(healthcheck || build)]).toEqual([name, 'service_healthy', true])
      }
      const names = Array.isArray(used) ? used : Object.keys(used)
      expect(Object.keys(networks)).toEqual(expect.arrayContaining(names))
      for (const [from = ''] of mounts.map((mount) => mount.split(':'))) {
        expect([from, from.startsWith('./') ? existsSync(operatingFile(from)) : from in volumes]).toEqual([from, true])
      }
    }
  })

  test('its gateway has a valid configuration that trusts the address of the proxy only', () => {
    const values: Record<string, string> = {
      SITE: 'gateway.example',
      POSTGRES_PASSWORD: 'abc',
      METRICS_TOKEN: 'of-metrics',
    }
    const environment = Object.entries(services.gateway.environment ?? {}).map(([name, value]) => [
      name,
      String(value).replace(
        /\$\{(\w+)(?::[-?]([^}]*))?\}/g,
        (_, variable, fallback) => values[variable] ?? fallback ?? '',
      ),
    ])
    const config = readConfig(Object.fromEntries(environment))
    if ('problems' in config) throw new Error(config.problems.join())
    const { front } = services.proxy.networks as Record<string, { ipv4_address?: string }>
    expect(config.http).toMatchObject({
      publicUrl: 'https://gateway.example',
      trustedProxies: [front?.ipv4_address],
      workers: 2,
    })
    expect(config.store.url).toBe('postgres://sluice:abc@postgres:5432/sluice')
  })

  test('waits for requests in flight when it stops', () => {
    expect(Number.parseInt(services.gateway.stop_grace_period ?? '', 10)).toBeGreaterThan(drainSeconds)
  })

  test('keeps uploads and videos in a volume', () => {
    const [path] = /(?<=^VOLUME ).*/m.exec(read('Dockerfile')) ?? []
    const config = readConfig({})
    if ('problems' in config || config.storage?.kind !== 'folder') throw new Error('the default is a folder')
    expect(join(last('WORKDIR') ?? '', config.storage.path)).toStartWith(`${path}/`)
    expect(services.gateway.volumes?.map((mount) => mount.split(':')[1])).toEqual([path])
  })

  test('gives its gateway every setting of the example, and others that an operator adds', () => {
    const names = [...read('compose.env.example').matchAll(/^(\w+)=/gm)].map(([, name = '']) => name)
    expect(names).toEqual(expect.arrayContaining(variables))
    expect(services.gateway.env_file).toBe('.env')
    const settings = readFileSync(join(root, 'src/settings.md'), 'utf8')
    const known = new Set([...settings.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name))
    const ofTheComposition = ['SITE', 'POSTGRES_PASSWORD']
    expect(names.filter((name) => !known.has(name)).toSorted()).toEqual(ofTheComposition.toSorted())
  })
})

test('the page about several machines names every setting', () => {
  const settings = readFileSync(join(root, 'src/settings.md'), 'utf8')
  const names = [...settings.matchAll(/^\| `([A-Z][A-Z0-9_]+)` \|/gm)].map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(80)
  const [, section = ''] = /## Several processes and machines\n([\s\S]*?)\n### /.exec(read('README.md')) ?? []
  const words = [...section.matchAll(/`([A-Z][A-Z0-9_]*…?)`/g)].map(([, word = '']) => word)
  const isNamed = (name: string) =>
    words.some((word) => (word.endsWith('…') ? name.startsWith(word.slice(0, -1)) : name === word))
  expect(names.filter((name) => !isNamed(name))).toEqual([])
})

describe('the systemd unit', () => {
  const unit = read('sluice.service')

  test('waits for requests in flight, and does not restart with an invalid configuration', () => {
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(drainSeconds)
    expect(unit).toContain('RestartPreventExitStatus=2')
    expect(unit).toContain('ExecStart=/usr/local/bin/bun /opt/sluice/dist/sluice.js start')
  })

  const analyze = findProgram('systemd-analyze')
  describeIf(analyze !== undefined, 'systemd-analyze is not installed')('by systemd-analyze', () => {
    test('is valid, and exposes little', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'sluice-unit-'))
      try {
        const path = join(folder, 'sluice.service')
        // The program does not have to be installed here.
        await writeFile(path, unit.replace('/usr/local/bin/bun', process.execPath))
        expect(await run([analyze ?? '', 'verify', path])).toMatchObject({ status: 0, errors: '' })
        // From 0, no exposure, to 10.0; the option takes tenths.
        const rated = await run([analyze ?? '', 'security', '--offline=true', '--threshold=20', path])
        expect([rated.status, /exposure level.*/.exec(rated.output)?.[0]]).toEqual([0, expect.any(String)])
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  })
})

const promtool = findProgram('promtool')
describeIf(promtool !== undefined, 'promtool is not installed')('the files of Prometheus by promtool', () => {
  test('are valid', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-prometheus-'))
    try {
      for (const name of ['prometheus.yml', 'alerts.yml']) await writeFile(join(folder, name), read(name))
      await writeFile(join(folder, 'metrics-token'), 'secret')
      const { status, errors } = await run([promtool ?? '', 'check', 'config', join(folder, 'prometheus.yml')])
      expect({ status, errors }).toEqual({ status: 0, errors: '' })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
