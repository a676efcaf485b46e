/** Resolves names with a name server that misbehaves, and prints what came of it as JSON. Runs on both runtimes. */
import { once } from 'node:events'
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createResolve } from '../../plugins/events/address/resolve.ts'
import { post } from '../../plugins/events/webhooks/post.ts'
import { hashPassword } from '../../plugins/web-session/index.ts'
import { type Answer, startNameServer } from './name-server.ts'

const results: Record<string, unknown> = {}
const folder = mkdtempSync(join(tmpdir(), 'sluice-names-'))
const [hosts, config] = [join(folder, 'hosts'), join(folder, 'resolv.conf')]
writeFileSync(
  hosts,
  '# 10.0.0.9 comment\n127.0.0.1 localhost\n10.9.9.9 hook Hook.Corp.example # x\nfd00::5\thook\nnothing hook\n',
)
writeFileSync(config, 'nameserver 192.0.2.1\nsearch first.example second.example.\noptions timeout:1 ndots:2\n')

const late = Promise.withResolvers<Answer>()
const chain = Array.from({ length: 40 }, (_, nth) => `alias-${nth}.example`)
const many = Array.from({ length: 3_000 }, (_, nth) => `10.0.${nth >> 8}.${nth & 255}`)
const answers: Readonly<Record<string, Answer | Promise<Answer>>> = {
  'both.public.example': { addresses: ['2a00::1', '8.8.8.8', '1.1.1.1'] },
  'six.public.example': { addresses: ['2a00::1'] },
  'alias.public.example': { addresses: ['8.8.8.8'], aliases: ['real.example'] },
  'chain.public.example': { addresses: ['8.8.8.8'], aliases: chain },
  'circle.public.example': { addresses: [], aliases: ['other.example', 'circle.public.example'] },
  'many.public.example': { addresses: many },
  'half.public.example': { addresses: ['8.8.8.8'] },
  'private.public.example': { addresses: ['10.1.2.3', 'fd00::1'] },
  'broken.public.example': 'SERVFAIL',
  'late.public.example': late.promise,
  'service.second.example': { addresses: ['10.2.0.1'] },
  'service.default.second.example': { addresses: ['10.2.0.2'] },
}
await using server = await startNameServer((name, type) =>
  name.includes('silent') || (name.startsWith('half') && type === 'AAAA') ? 'none' : (answers[name] ?? 'NXDOMAIN'),
)
const resolve = createResolve({ servers: [server.address], hosts, config })
const forever = new AbortController().signal
const outcome = (work: Promise<unknown>) => work.catch((error: Error) => error.message.replace(/;.*/, ''))

for (const name of ['both', 'six', 'alias', 'chain', 'circle', 'private', 'broken', 'missing']) {
  results[name] = await outcome(resolve(`${name}.public.example`, forever))
}
results.many = (await resolve('many.public.example', forever)).length
results.letters = await resolve('BOTH.Public.EXAMPLE.', forever)
const slow = resolve('late.public.example', forever)
while (!server.queries.includes('late.public.example AAAA')) await new Promise((next) => setTimeout(next, 5))
late.resolve({ addresses: ['8.8.8.8'] })
results.late = await slow
for (const name of ['x'.repeat(64), 'a..b', `${'a.'.repeat(200)}example`]) {
  results[`wrong ${name.length}`] = await outcome(resolve(`${name}.example.`, forever))
}

// The files of the system: names that no server knows, and domains.
const asked = server.queries.length
results.hosts = [await resolve('hook', forever), await resolve('HOOK.corp.example.', forever)]
results.localhost = [await resolve('localhost', forever), await resolve('a.localhost', forever)]
results.askedForHosts = server.queries.length - asked
results.service = [await resolve('service', forever), await resolve('service.default', forever)]
results.fullName = await outcome(resolve('service.', forever))
results.searched = [...new Set(server.queries.slice(asked))].filter((query) => query.endsWith(' A'))
writeFileSync(`${hosts}.new`, '10.9.9.10 hook\n')
renameSync(`${hosts}.new`, hosts)
results.changed = await resolve('hook', forever)
results.unreadable = await createResolve({ servers: [server.address], hosts: '/nothing', config: '/nothing' })(
  'both.public.example',
  forever,
)

// Names whose server never answers. Meanwhile the thread pool is free.
const names = Array.from({ length: 42 }, (_, nth) => `silent-${nth}.public.example`)
const stop = new AbortController()
// Each server is asked for six seconds, which is no time for a busy machine.
const servers = Array<string>(20).fill(server.address)
const patient = createResolve({ servers, hosts, config, deadlineMs: 120_000 })
const request = { headers: {}, body: '{}', rules: { isAllowed: () => true, resolve: patient }, deadlineMs: 120_000 }
let open = names.length
const ended = names.map((name) =>
  outcome(post({ ...request, url: `http://${name}/`, signal: stop.signal })).finally(() => open--),
)
const hasAsked = (name: string) => ['A', 'AAAA'].every((type) => server.queries.includes(`${name} ${type}`))
while (!names.every(hasAsked)) await new Promise((next) => setTimeout(next, 5))
const web = createServer((_, response) => response.end('hello'))
web.listen(0, 'localhost')
await once(web, 'listening')
const url = `http://localhost:${(web.address() as AddressInfo).port}/`
const [file, hash, page] = await Promise.all([
  readFile(hosts, 'utf8'),
  hashPassword('correct horse'),
  fetch(url).then((response) => response.text()),
])
results.meanwhile = [file.length, hash.slice(0, 9), page, open]
stop.abort()
results.stopped = [...new Set(await Promise.all(ended)), open]

// The deadline is for all queries of a name. What has arrived before the end of a look-up counts.
const hasty = createResolve({ servers: [server.address], hosts, config, deadlineMs: 50 })
results.deadline = await outcome(hasty('silent.public.example', forever))
const end = new AbortController()
const half = resolve('half.public.example', end.signal)
while (!hasAsked('half.public.example')) await new Promise((next) => setTimeout(next, 5))
await resolve('six.public.example', forever)
end.abort()
results.half = await half
web.closeAllConnections()
web.close()
await rm(folder, { recursive: true })
console.log(JSON.stringify(results))
