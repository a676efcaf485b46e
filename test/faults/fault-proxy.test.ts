import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { startFaultProxy } from './fault-proxy.ts'

/** A proxy before a server that sends back what it gets. */
const openEcho = async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy = await startFaultProxy((server.address() as AddressInfo).port)
  const client = () =>
    new Promise<Socket & { received: string; failure?: string }>((resolve) => {
      const socket = Object.assign(connect(proxy.port, '127.0.0.1'), { received: '' }) as Socket & {
        received: string
        failure?: string
      }
      socket.on('data', (bytes) => {
        socket.received += bytes.toString('latin1')
      })
      socket.on('error', (error: NodeJS.ErrnoException) => {
        socket.failure = error.code ?? ''
        resolve(socket)
      })
      socket.on('connect', () => resolve(socket))
    })
  return {
    ...{ proxy, client },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      server.close()
    },
  }
}

const until = async (condition: () => boolean) => {
  while (!condition()) await Bun.sleep(1)
}

test('passes all bytes, and the end of a connection', async () => {
  await using echo = await openEcho()
  const client = await echo.client()
  client.end('abc')
  await once(client, 'end')
  expect(client.received).toBe('abc')
})

test('refuses connections, and accepts them again', async () => {
  await using echo = await openEcho()
  const open = await echo.client()
  await echo.proxy.fail({ kind: 'refuse' })
  await until(() => open.destroyed)
  expect((await echo.client()).failure).toBe('ECONNREFUSED')
  await echo.proxy.recover()
  const client = await echo.client()
  client.end('abc')
  await once(client, 'end')
  expect(client.received).toBe('abc')
})

test('resets connections after so many bytes, as often as it was told', async () => {
  await using echo = await openEcho()
  await echo.proxy.fail({ kind: 'reset', afterBytes: 2, times: 1 })
  const first = await echo.client()
  first.write('abc')
  await until(() => first.destroyed)
  expect([first.received, first.failure]).toEqual(['ab', 'ECONNRESET'])
  const second = await echo.client()
  second.end('abc')
  await once(second, 'end')
  expect(second.received).toBe('abc')
})

test('closes connections after so many bytes without an error', async () => {
  await using echo = await openEcho()
  await echo.proxy.fail({ kind: 'close', afterBytes: 2 })
  const client = await echo.client()
  client.write('abc')
  await until(() => client.destroyed)
  expect([client.received, client.failure]).toEqual(['ab', undefined])
})

test('holds all bytes while frozen, and passes them on when it recovers', async () => {
  await using echo = await openEcho()
  const client = await echo.client()
  await echo.proxy.fail({ kind: 'freeze' })
  client.write('abc')
  const other = await echo.client()
  other.write('def')
  await Bun.sleep(20)
  expect([client.received, other.received]).toEqual(['', ''])
  await echo.proxy.recover()
  await until(() => client.received === 'abc' && other.received === 'def')
})

test('loses all bytes of half-open connections for ever, and serves new ones when it recovers', async () => {
  await using echo = await openEcho()
  const client = await echo.client()
  await echo.proxy.fail({ kind: 'half-open' })
  client.write('abc')
  await echo.proxy.recover()
  client.write('def')
  const other = await echo.client()
  other.end('ghi')
  await once(other, 'end')
  expect([client.received, client.destroyed, other.received]).toEqual(['', false, 'ghi'])
})

test('recovers from resets while a connection that has vanished stays', async () => {
  await using echo = await openEcho()
  const vanished = await echo.client()
  await echo.proxy.fail({ kind: 'half-open' })
  await echo.proxy.fail({ kind: 'reset', afterBytes: 0 })
  await echo.proxy.recover()
  expect(vanished.destroyed).toBe(false)
})

test('loses what comes after so many bytes of responses', async () => {
  await using echo = await openEcho()
  await echo.proxy.fail({ kind: 'half-open', afterBytes: 3 })
  const client = await echo.client()
  client.write('abc')
  await until(() => client.received === 'abc')
  client.write('def')
  await Bun.sleep(20)
  expect([client.received, client.destroyed]).toEqual(['abc', false])
})

test('sends wrong bytes, slow ones, and few at a time', async () => {
  await using echo = await openEcho()
  await echo.proxy.fail({ kind: 'wrong-bytes' })
  const wrong = await echo.client()
  wrong.end('abc')
  await once(wrong, 'end')
  expect(wrong.received).toBe('\xff\xff\xff')
  for (const fault of [
    { kind: 'slow', ms: 5 },
    { kind: 'trickle', bytes: 1 },
  ] as const) {
    await echo.proxy.fail(fault)
    const client = await echo.client()
    client.end('abc')
    await once(client, 'end')
    expect(client.received).toBe('abc')
  }
})
