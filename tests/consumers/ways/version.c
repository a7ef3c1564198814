const char* plugin_version(void) { return "1"; }
