/** Counts what goes through this page's socket, by wrapping the WebSocket that the provider is given. */
export class Meter {
  framesIn = 0
  framesOut = 0
  bytesIn = 0
  bytesOut = 0
  lastIn = performance.now()
  onFrame: (frame: Uint8Array) => void = () => {}

  receive(data: unknown): void {
    this.lastIn = performance.now()
    this.framesIn++
    if (!(data instanceof ArrayBuffer)) return
    const frame = new Uint8Array(data)
    this.bytesIn += frame.length
    this.onFrame(frame)
  }

  send(data: unknown): void {
    this.framesOut++
    if (data instanceof ArrayBuffer || ArrayBuffer.isView(data)) this.bytesOut += data.byteLength
  }
}

export function meteredSocket(meter: Meter): typeof WebSocket {
  return class extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols)
      this.addEventListener('message', (event) => meter.receive(event.data))
    }

    override send(data: string | ArrayBufferLike | Blob | ArrayBufferView<ArrayBuffer>): void {
      meter.send(data)
      super.send(data as ArrayBuffer)
    }
  }
}
