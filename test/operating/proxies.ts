import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { findProgram, operatingFile } from './fixture.ts'

export const read = (name: string) => readFileSync(operatingFile(name), 'utf8')

/** How a proxy is started with its example, on other addresses, and without TLS. */
export interface ReverseProxy {
  readonly program: string
  /** The example changed as its comment says, for a gateway below `/gateway`. */
  belowPath(example: string): string
  /** @param upstreams the ports of the two processes of the gateway */
  configure(site: {
    readonly folder: string
    readonly port: number
    readonly upstreams: readonly [number, number]
  }): string
  command(program: string, folder: string): readonly string[]
}

/** Replaces the addresses of both processes. */
const withUpstreams = (example: string, [first, second]: readonly [number, number]) =>
  example.replaceAll('127.0.0.1:3000', `127.0.0.1:${first}`).replaceAll('127.0.0.1:3001', `127.0.0.1:${second}`)

export const proxies: readonly ReverseProxy[] = [
  {
    program: 'nginx',
    belowPath: (example) =>
      example
        .replace('location / {', 'location /gateway/ {')
        .replace('error_page 418', 'rewrite ^/gateway(/.*)$ $1;\nerror_page 418')
        .replace('location = /metrics', 'location = /gateway/metrics'),
    configure: ({ folder, port, upstreams }) => {
      const site = withUpstreams(read('nginx.conf'), upstreams)
        .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
        .replace('listen [::]:443 ssl;', '')
        .replace(/ssl_certificate.*;/g, '')
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${folder}/${name};`)
        .join('\n')
      return `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}
        http { access_log off; ${temporary}\n${site} }`
    },
    command: (program, folder) => [program, '-e', 'stderr', '-p', folder, '-c', join(folder, 'configuration')],
  },
  {
    program: 'caddy',
    belowPath: (example) =>
      example
        .replace(/^(http\S+ \{)\n([\s\S]*)^\thandle_errors \{/m, '$1\nhandle_path /gateway/* {\n$2}\nhandle_errors {')
        .replace('handle_errors {', 'handle_errors {\nuri strip_prefix /gateway'),
    configure: ({ port, upstreams }) =>
      withUpstreams(`{\nadmin off\n}\n${read('Caddyfile')}`, upstreams)
        .replace('{$SITE:gateway.example}', `http://127.0.0.1:${port}`)
        // On a busy machine, a process that works may respond late to all that ask whether it is ready.
        .replaceAll('health_timeout 4s', 'health_timeout 60s'),
    command: (program, folder) => [program, 'run', '--adapter', 'caddyfile', '--config', join(folder, 'configuration')],
  },
  {
    program: 'haproxy',
    belowPath: (example) => example.replace(/# Below a path[^`]*`([^`]*)`,\s*# then `([^`]*)`.*\n/, '$1\n$2\n'),
    configure: ({ port, upstreams }) =>
      withUpstreams(read('haproxy.cfg'), upstreams).replace(/bind :443 .*/, `bind 127.0.0.1:${port}`),
    command: (program, folder) => [program, '-db', '-f', join(folder, 'configuration')],
  },
]

/** A proxy that runs. */
export interface RunningProxy {
  readonly url: string
  /** What it has written about errors, until it is stopped. */
  readonly log: () => string
  readonly stop: () => Promise<void>
}

/** @param path of the gateway on the site */
export const startProxy = async (
  proxy: ReverseProxy,
  upstreams: readonly [number, number],
  path = '',
): Promise<RunningProxy> => {
  for (;;) {
    const started = await startOn(await freePort(), proxy, upstreams, path)
    if (started) return started
  }
}

/** Undefined: another process has taken the port since it was free. */
const startOn = async (
  port: number,
  { program, configure, command }: ReverseProxy,
  upstreams: readonly [number, number],
  path: string,
): Promise<RunningProxy | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), `sluice-${program}-`))
  await writeFile(join(folder, 'configuration'), configure({ folder, port, upstreams }))
  const log = join(folder, 'log')
  const child = Bun.spawn([...command(findProgram(program) ?? '', folder)], {
    env: { PATH: process.env.PATH ?? '', HOME: folder },
    stdio: ['ignore', 'ignore', Bun.file(log)],
  })
  const url = `http://127.0.0.1:${port}${path}`
  // The proxy itself answers for /metrics.
  while (!(await fetch(`${url}/metrics`).catch(() => undefined))) {
    if (child.exitCode !== null) {
      const written = readFileSync(log, 'utf8')
      await rm(folder, { recursive: true, force: true })
      if (/address (already )?in use/i.test(written)) return undefined
      throw new Error(`${program} has ended with ${child.exitCode}: ${written}`)
    }
    await Bun.sleep(20)
  }
  return {
    url,
    log: () => readFileSync(log, 'utf8'),
    async stop() {
      // On SIGTERM, Caddy waits for open streams.
      child.kill('SIGKILL')
      await child.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
