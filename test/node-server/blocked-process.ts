/** Blocks its process for longer than the timeouts of its server, while bytes of its callers wait to be read. Prints what each caller gets, as JSON. */
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { readBytes } from '../../plugins/shared/http/body/body.ts'
import { defaultTimeouts } from '../../src/node-server/timeouts.ts'
import { createNodeServer } from '../../src/node-server.ts'
import { host, RawConnection } from './raw-connection.ts'

const limitMs = 1_000
const timeouts = Object.fromEntries(Object.keys(defaultTimeouts).map((name) => [name, limitMs]))

const server = await createNodeServer(
  async (request) => new Response(request.method === 'POST' ? await readBytes(request, 100) : 'answered'),
  { timeouts },
).listen()

const dial = async (): Promise<RawConnection> => {
  const socket = connect(server.port, '127.0.0.1')
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  return new RawConnection(socket)
}
const get = `GET / HTTP/1.1\r\n${host}\r\n`

// Compiles what the callers below need.
for (let turn = 0; turn < 3; turn++) {
  const first = await dial()
  first.write(get)
  await first.readResponse()
  first.socket.destroy()
}

const fresh = await dial()
const kept = await dial()
kept.write(get)
await kept.readResponse()
const body = await dial()
body.write(`POST / HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 6\r\n\r\n`)
await body.until('100 Continue\r\n\r\n')
body.write('abc')
const head = await dial()
head.write(get.slice(0, 20))
for (let turn = 0; turn < 10; turn++) await setImmediate()

fresh.write(get)
kept.write(get)
body.write('def')
head.write(get.slice(20))
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4 * limitMs)

const answers = Object.entries({ fresh, kept, body, head }).map(async ([name, connection]) => [
  name,
  await connection.readResponse().then(({ status, body }) => `${status} ${body}`, String),
])
console.log(JSON.stringify(Object.fromEntries(await Promise.all(answers))))
process.exit(0)
