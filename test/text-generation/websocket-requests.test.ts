import { expect, test } from 'bun:test'
import { createClientAddressOf, setPeerAddress } from '../../plugins/shared/http/client-address.ts'
import { offerWebSocket, webSocketAcceptanceOf } from '../../plugins/shared/http/web-socket.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { connectResponses } from '../../plugins/text-generation/websocket/upgrade.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'

test('the request of a message has the address and the headers of the caller, without those of the connection', async () => {
  const handshake = new Request('http://localhost/v1/responses', {
    headers: {
      ...{ authorization: 'Bearer ann', 'user-agent': 'codex', upgrade: 'websocket', 'sec-websocket-version': '13' },
      ...{ 'x-request-id': 'of-the-handshake', 'content-length': '0' },
    },
  })
  offerWebSocket(handshake)
  setPeerAddress(handshake, '192.0.2.7')
  const options = { requireSameOrigin: undefined, maxBodyBytes: 1_000, clock: new VirtualClock(), log: noLog }
  const accepted = connectResponses(handshake, { whenRevoked: undefined, server: undefined }, options)
  const requests: Request[] = []
  const connection = { send: () => undefined, ping() {}, close() {}, terminate() {} }
  const listener = webSocketAcceptanceOf(accepted)?.onOpen(connection, (request) => {
    requests.push(request)
    return new Response('{}')
  })
  listener?.onMessage('{"type":"response.create","model":"m","input":"hi"}')
  await settled()
  const [request] = requests
  expect(request && createClientAddressOf()(request)).toBe('192.0.2.7')
  expect(Object.fromEntries(request?.headers ?? [])).toEqual({
    ...{ authorization: 'Bearer ann', 'user-agent': 'codex', accept: 'text/event-stream' },
    ...{ 'content-type': 'application/json', 'content-length': '40' },
  })
  listener?.onClose()
})
