import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, type Started, start, temporaryFolder } from './processes.ts'
import type { Target } from './targets.ts'

/** The environment of a compared server. */
interface Place {
  /** URL of the upstream. */
  readonly upstream: string
  /** Port to listen on, at 127.0.0.1. */
  readonly port: number
  /** A temporary folder for its files. */
  readonly folder: string
}

interface ComparedServer {
  /** Whether it is installed. Default: true. */
  readonly found?: () => boolean
  /** npm packages to install into its folder. */
  readonly packages?: Readonly<Record<string, string>>
  /** Versions of packages that those need. */
  readonly overrides?: Readonly<Record<string, string>>
  /** Its files and its start command. */
  readonly setUp: (place: Place) => { readonly files?: Readonly<Record<string, string>>; readonly command: string[] }
  /** Additional headers of each request. */
  readonly headers?: (place: Place) => Readonly<Record<string, string>>
  /** Names of the cases that it can serve. Default: all. */
  readonly serves?: readonly string[]
}

type RelayKind = 'bun' | 'elysia' | 'node' | 'unpooled' | 'constant' | 'node-constant'

const relay = (kind: RelayKind, serves?: readonly string[]): ComparedServer => ({
  serves,
  setUp: ({ upstream, port }) => ({
    command: [process.execPath, join(import.meta.dir, 'relay.ts'), kind, upstream, String(port)],
  }),
})

const hostOf = (address: string): string => new URL(address).host

const known = {
  bun: relay('bun'),
  elysia: relay('elysia'),
  // Lower bounds for the gateway: its listener, a POST on a new connection, and a listener without upstream.
  node: relay('node'),
  unpooled: relay('unpooled', ['chat', 'chat-22', 'stream-22']),
  constant: relay('constant', ['401']),
  'node-constant': relay('node-constant', ['401']),
  nginx: {
    found: () => Bun.which('nginx') !== null,
    setUp: ({ upstream, port, folder }) => ({
      files: { 'nginx.conf': nginx(upstream, port, folder) },
      command: ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')],
    }),
  },
  haproxy: {
    found: () => Bun.which('haproxy') !== null,
    setUp: ({ upstream, port, folder }) => ({
      files: { 'haproxy.cfg': haproxy(upstream, port) },
      command: ['haproxy', '-f', join(folder, 'haproxy.cfg'), '-db'],
    }),
  },
  portkey: {
    packages: { '@portkey-ai/gateway': '1.15.2' },
    // With 1.15 and later, which npm would install, each stream on Node 20 is a 500: "TypeError: immutable".
    overrides: { '@hono/node-server': '1.14.1' },
    setUp: ({ port }) => ({
      command: [
        Bun.which('node') ?? process.execPath,
        'node_modules/@portkey-ai/gateway/build/start-server.js',
        `--port=${port}`,
        '--headless',
      ],
    }),
    headers: ({ upstream }) => ({
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream}/v1`,
    }),
    // It serves text generation, and assembles no streams.
    serves: ['chat', 'stream-22', 'stream-2000'],
  },
  litellm: {
    // A Python package: `pip install 'litellm[proxy]'`.
    found: () => Bun.which('litellm') !== null,
    setUp: ({ upstream, port, folder }) => ({
      files: { 'litellm.yaml': litellm(upstream) },
      command: [
        'litellm',
        ...['--config', join(folder, 'litellm.yaml')],
        ...['--host', '127.0.0.1', '--port', String(port)],
        ...['--num_workers', '1'],
      ],
    }),
    headers: () => ({ authorization: `Bearer ${litellmKey}` }),
    serves: ['chat', 'stream-22', 'stream-2000'],
  },
  fastify: {
    packages: { '@fastify/http-proxy': '11.6.3', fastify: '5.12.8' },
    setUp: ({ upstream, port }) => ({
      files: { 'server.mjs': fastify(upstream, port) },
      command: [Bun.which('node') ?? process.execPath, 'server.mjs'],
    }),
  },
} as const satisfies Record<string, ComparedServer>

export type ComparedServerName = keyof typeof known
export const comparedServers = Object.keys(known) as readonly ComparedServerName[]

/** The default comparisons: servers that need no installation and are present. */
export const defaultComparedServers = (): readonly ComparedServerName[] =>
  comparedServers.filter((name) => {
    const { packages, found }: ComparedServer = known[name]
    return packages === undefined && (found?.() ?? true)
  })

/** What the bench installs to start the server, as `name@version`. Empty: nothing. */
export const packagesOf = (name: ComparedServerName): readonly string[] => {
  const { packages = {} }: ComparedServer = known[name]
  return Object.entries(packages).map(([which, version]) => `${which}@${version}`)
}

/** Throws an Error when the server is not installed. */
export const startComparedServer = async (name: ComparedServerName, upstream: string): Promise<Target> => {
  const compared: ComparedServer = known[name]
  if (compared.found?.() === false) throw new Error(`${name} is not installed`)
  const folder = temporaryFolder()
  if (compared.packages) await install(folder, compared)
  const startAgain = async (): Promise<Started> => {
    const place = { upstream, folder, port: freePort() }
    const { files = {}, command } = compared.setUp(place)
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text)
    const env = {
      BUN_CONFIG_MAX_HTTP_REQUESTS: '65336',
      NODE_ENV: 'production',
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
      LITELLM_MODE: 'PRODUCTION',
      LITELLM_LOG: 'ERROR',
    }
    return start(command, { cwd: folder, env, port: place.port })
  }
  return {
    name: compared === known.bun ? baseline : name,
    token: 'none',
    headers: compared.headers?.({ upstream, folder, port: 0 }) ?? {},
    serves: (which) => compared.serves?.includes(which) ?? true,
    process: await startAgain(),
    startAgain,
  }
}

/** The target that all others are compared with. */
export const baseline = 'bare bun relay'

const install = async (folder: string, { packages = {}, overrides }: ComparedServer): Promise<void> => {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages, overrides }))
  const child = Bun.spawn([process.execPath, 'install', '--ignore-scripts'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  if ((await child.exited) !== 0) throw new Error(`${Object.keys(packages).join(', ')} cannot be installed`)
}

const nginx = (upstream: string, port: number, folder: string): string => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${join(folder, 'nginx.pid')};
error_log ${join(folder, 'error.log')} warn;
events { worker_connections 20000; }
http {
  access_log off;
  client_body_temp_path ${join(folder, 'body')};
  proxy_temp_path ${join(folder, 'proxy')};
  fastcgi_temp_path ${join(folder, 'fastcgi')};
  uwsgi_temp_path ${join(folder, 'uwsgi')};
  scgi_temp_path ${join(folder, 'scgi')};
  keepalive_requests 100000000;
  upstream bench { server ${hostOf(upstream)}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Authorization "Bearer upstream-key";
    }
    location /v1/ {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_buffering off;
      proxy_read_timeout 300s;
      proxy_set_header Connection "";
      proxy_set_header Authorization "Bearer upstream-key";
    }
  }
}
`

const haproxy = (upstream: string, port: number): string => `
global
  nbthread 1
  maxconn 9500
defaults
  mode http
  timeout connect 5s
  timeout client 300s
  timeout server 300s
frontend front
  bind 127.0.0.1:${port}
  default_backend back
backend back
  http-reuse always
  http-request set-header Authorization "Bearer upstream-key"
  server upstream ${hostOf(upstream)}
`

const litellmKey = 'sk-bench-litellm'

/** The models of the cases and of the board. YAML is a superset of JSON. */
const litellm = (upstream: string): string =>
  JSON.stringify({
    model_list: ['plain', 'plain-20', 'events-22-0', 'events-22-2', 'events-2000-0', 'events-2000-2', 'open-250'].map(
      (model) => ({
        model_name: model,
        litellm_params: { model: `openai/${model}`, api_base: `${upstream}/v1`, api_key: 'upstream-key' },
      }),
    ),
    general_settings: { master_key: litellmKey },
    litellm_settings: { request_timeout: 600, set_verbose: false },
  })

const fastify = (upstream: string, port: number): string => `
import Fastify from 'fastify'
import proxy from '@fastify/http-proxy'
const app = Fastify()
app.register(proxy, {
  upstream: '${upstream}',
  undici: { connections: 20000, pipelining: 1, headersTimeout: 300000, bodyTimeout: 300000 },
  replyOptions: { rewriteRequestHeaders: (_, headers) => ({ ...headers, authorization: 'Bearer upstream-key' }) },
})
await app.listen({ host: '127.0.0.1', port: ${port} })
`
