/** A worker thread that requests a URL continuously. It responds to each message with the longest wait since the last message. */
declare const self: Worker

let address = ''
let longest = 0

const probe = async (): Promise<never> => {
  while (true) {
    if (address !== '') {
      const askedAt = performance.now()
      await (await fetch(address)).arrayBuffer()
      longest = Math.max(longest, performance.now() - askedAt)
    }
    await Bun.sleep(2)
  }
}

self.onmessage = ({ data }) => {
  address = data as string
  self.postMessage(longest)
  longest = 0
}
void probe()
