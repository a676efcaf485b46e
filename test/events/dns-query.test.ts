import { afterEach, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeQuery, readAnswer } from '../../plugins/events/address/dns-message.ts'
import { queryAddresses } from '../../plugins/events/address/dns-query.ts'
import { createNameFiles } from '../../plugins/events/address/name-files.ts'
import { listen } from './name-server.ts'

const cleanups: (() => unknown)[] = []
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean()
})

const forever = new AbortController().signal
const ask = (servers: readonly string[], signal = forever) =>
  queryAddresses('name.example', 'A', { servers, queryMs: 60_000, tries: 1, signal })

/** A record of the name in the question: an address by default. */
const record = (last: number, type = 1, data: readonly number[] = [10, 0, last >> 8, last & 255]): Buffer =>
  Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, data.length >> 8, data.length & 255, ...data])

const respond = (query: Buffer, flags: number, records: readonly Buffer[] = []): Buffer => {
  const message = Buffer.concat([query, ...records])
  message.writeUInt16BE(flags, 2)
  message.writeUInt16BE(records.length, 6)
  return message
}
const ok = 0x8180
const truncated = 0x8380

/** A name server. @param say the responses to a query over UDP @param sayTcp the bytes after a query over TCP */
const serve = async (
  say: (query: Buffer, port: number) => readonly Buffer[],
  sayTcp: (query: Buffer) => Buffer = () => Buffer.alloc(0),
) => {
  const { udp, tcp, port } = await listen()
  const closed = Promise.withResolvers<void>()
  udp.on('message', (query, from) => {
    for (const message of say(query, from.port)) udp.send(message, from.port, from.address)
  })
  tcp.on('connection', (socket) => {
    socket.on('error', () => {})
    socket.on('close', () => closed.resolve())
    socket.once('data', (bytes) => socket.write(sayTcp((bytes as Buffer).subarray(2))))
  })
  cleanups.push(() => {
    udp.close()
    tcp.close()
  })
  return { address: `127.0.0.1:${port}`, closed: closed.promise }
}

test('of a response over TCP, 4 KiB are read, and no more is waited for', async () => {
  const { address, closed } = await serve(
    (query) => [respond(query, truncated)],
    (query) => {
      const aliases = Array.from({ length: 250 }, (_, nth) => record(nth, 5, [0xc0, 12]))
      const message = respond(query, ok, [record(1), record(2), ...aliases, record(3)])
      message.writeUInt16BE(4_000, 6)
      // It announces 65,535 bytes. The rest never comes.
      return Buffer.concat([Buffer.from([255, 255]), message, Buffer.alloc(4_098 - 2 - message.length)])
    },
  )
  const found = await ask([address])
  expect(found.slice(0, 2)).toEqual(['10.0.0.1', '10.0.0.2'])
  await closed
})

test('at most 16 addresses are read', () => {
  const query = encodeQuery(7, 'name.example', 'A')
  const records = Array.from({ length: 3_000 }, (_, nth) => record(nth))
  expect(readAnswer(respond(query, ok, records), query)?.addresses).toEqual(
    Array.from({ length: 16 }, (_, nth) => `10.0.0.${nth}`),
  )
})

test('a datagram that is no response to the query is ignored', async () => {
  const other = createSocket('udp4').bind(0, '127.0.0.1')
  await once(other, 'listening')
  cleanups.push(() => other.close())
  const { address } = await serve((query, port) => {
    other.send(respond(query, ok, [record(0)]), port, '127.0.0.1')
    const wrongId = respond(query, ok, [record(1)])
    wrongId.writeUInt16BE(query.readUInt16BE(0) ^ 1, 0)
    const wrongName = respond(query, ok, [record(2)])
    wrongName[13] = 'x'.charCodeAt(0)
    const isQuery = respond(query, 0x0100, [record(3)])
    return [wrongId, wrongName, isQuery, Buffer.from('no message'), Buffer.alloc(0), respond(query, ok, [record(4)])]
  })
  expect(await ask([address])).toEqual(['10.0.0.4'])
})

test('a response that ends anywhere, or has any bytes, is read without an error', () => {
  const query = encodeQuery(7, 'name.example', 'AAAA')
  const data = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
  const message = respond(query, ok, [record(0, 5, [3, 97, 98, 99, 0xc0, 12]), record(0, 28, data)])
  expect(readAnswer(message, query)?.addresses).toEqual(['2001:db8::1'])
  for (let end = 0; end < message.length; end++)
    expect(readAnswer(message.subarray(0, end), query)?.addresses ?? []).toEqual([])
  for (let at = query.length; at < message.length; at++) {
    const changed = Buffer.from(message)
    changed[at] = 0xff
    readAnswer(changed, query)
  }
})

test('the next server is asked when one fails or does not exist; a name that does not exist is not asked again', async () => {
  const asked: string[] = []
  const server = (name: string, flags: number, records: readonly Buffer[] = []) =>
    serve((query) => {
      asked.push(name)
      return [respond(query, flags, records)]
    })
  const failing = await server('failing', ok | 2)
  const good = await server('good', ok, [record(9)])
  const none = await server('none', ok | 3)
  const gone = createSocket('udp4').bind(0, '127.0.0.1')
  await once(gone, 'listening')
  const nobody = `127.0.0.1:${gone.address().port}`
  gone.close()
  expect(await ask([nobody, failing.address, good.address, none.address])).toEqual(['10.0.0.9'])
  await expect(ask([none.address, good.address])).rejects.toThrow('A ENOTFOUND name.example')
  await expect(ask([failing.address])).rejects.toThrow('A ESERVFAIL (2) name.example')
  await expect(ask([])).rejects.toThrow('A ENOSERVER name.example')
  expect(asked).toEqual(['failing', 'good', 'none', 'failing'])
})

test('a query ends with its signal, also while the response comes over TCP', async () => {
  const stop = new AbortController()
  const asked = Promise.withResolvers<void>()
  const { address, closed } = await serve(
    (query) => [respond(query, truncated)],
    () => {
      asked.resolve()
      return Buffer.from([255])
    },
  )
  const found = ask([address], stop.signal).catch((error: Error) => error.message)
  await asked.promise
  stop.abort()
  expect(await found).toBe('A ECANCELLED name.example')
  await closed
})

test('the servers are those of resolv.conf, three at most, and one on this host if it names none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-names-'))
  cleanups.push(() => rm(folder, { recursive: true }))
  const serversOf = (text: string) => {
    const path = join(folder, `${text.length}`)
    writeFileSync(path, text)
    return createNameFiles('/nothing', path).servers()
  }
  const lines = ['192.0.2.1', '2001:db8::1 # x', 'no-address', '192.0.2.2', '192.0.2.3']
  expect(serversOf(`search a.example\n${lines.map((line) => `nameserver ${line}\n`).join('')}`)).toEqual([
    ...['192.0.2.1', '2001:db8::1', '192.0.2.2'],
  ])
  expect(serversOf('options ndots:2\n')).toEqual(['127.0.0.1'])
  expect(createNameFiles('/nothing', join(folder, 'nothing')).servers()).toBeUndefined()
})
