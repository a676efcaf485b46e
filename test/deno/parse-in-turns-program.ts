/**
 * A server that counts what its parser finds: requests, and chunks of bodies. The response to `/found` is how many there
 * were since the last such request, and the most in one turn of the event loop. Prints its port.
 *
 * A body is read unless the path is `/unread`, or `/never`, which has no response. `/wait` holds the event loop.
 */
import { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers'
import { createNodeServer } from '../../src/node-server.ts'

let all = 0
let inTurn = 0
let most = 0
const { push } = IncomingMessage.prototype
// Called for each chunk, and at the end of each request.
IncomingMessage.prototype.push = function (...args) {
  if (inTurn++ === 0) {
    setImmediate(() => {
      most = Math.max(most, inTurn)
      inTurn = 0
    })
  }
  all++
  return push.apply(this, args)
}

const { port } = await createNodeServer(async (request) => {
  const { pathname } = new URL(request.url)
  if (pathname === '/unread') return new Response('', { status: 401 })
  if (pathname === '/never') return new Promise(() => {})
  if (pathname === '/wait') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  if (pathname !== '/found') return new Response(String((await request.bytes()).length))
  const found = { all, most }
  all = 0
  most = 0
  return Response.json(found)
}).listen()
console.log(port)
