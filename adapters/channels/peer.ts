export { loadPeer } from '../peer/load-peer.ts'
