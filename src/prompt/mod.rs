//! Messages and a chat template become the exact prompt text, with a map of what in it is trusted. Knows no tokens ids and
//! no llama.cpp; the engine tokenizes what this room renders.
