/**
 * A server whose response to GET is how much its parser has found since the last one: all requests and chunks, and the
 * most in one turn of the event loop. Prints its port. A body is read unless the path is `/unread`.
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
  if (request.method === 'GET') {
    const found = { all, most }
    all = 0
    most = 0
    return Response.json(found)
  }
  if (new URL(request.url).pathname === '/unread') return new Response('', { status: 401 })
  return new Response(String((await request.bytes()).length))
}).listen()
console.log(port)
