/**
 * A program that listens and sends back WebSocket messages, on any runtime. Other requests get the number of connections
 * and of messages. The argument is how long a peer has to close its end, in milliseconds.
 */
import { webSocketResponse } from '../../plugins/shared/http/web-socket.ts'
import { createNodeServer } from '../../src/node-server.ts'

let open = 0
let messages = 0
const { port } = await createNodeServer(
  (request) => {
    if (request.headers.get('upgrade') === null) return new Response(`${open} ${messages}`)
    return webSocketResponse({
      maxMessageBytes: 3_000_000,
      onOpen(connection) {
        open++
        return {
          onMessage(text) {
            messages++
            if (text === 'close') connection.close(4000, '\u{1f600}'.repeat(40))
            else void connection.send(text === undefined ? 'binary' : text.length > 100_000 ? `${text.length}` : text)
          },
          onPong: () => void connection.send('pong'),
          onClose() {
            open--
          },
          onStop() {},
        }
      },
    })
  },
  { timeouts: { unreadBodyMs: Number(process.argv[2]) } },
).listen()
console.log(port)
